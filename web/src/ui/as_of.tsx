// In the head of what stays on show though the last request for it failed: since when it may be out of date, and why.
import { formatMinute } from "../format/times";
import type { Shown } from "../hooks/use_query";
import { Button } from "./button";
import { Moment } from "./times";

export function AsOf({ shown: { data, error, at, retry } }: { shown: Shown<unknown> }) {
  if (data === null || !error) return null;
  return (
    <span class="as-of warn" role="status">
      <span title={error}>
        as of <Moment ms={at}>{formatMinute(at)}</Moment>
      </span>
      <Button small title={error} onPress={retry}>
        Retry
      </Button>
    </span>
  );
}

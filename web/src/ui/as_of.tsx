// In the head of data that stays although the last request for it failed: when it was fetched, and why the request failed.
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

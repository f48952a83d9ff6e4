// In the head of what stays on show though the last request for it failed: since when it may be out of date, and why.
import type { Shown } from "../hooks/use_query";
import { formatAbsolute, formatMinute } from "../model/times";
import { Button } from "./button";

export function AsOf({ shown: { data, error, at, retry } }: { shown: Shown<unknown> }) {
  if (data === null || !error) return null;
  return (
    <span class="as-of warn" role="status">
      <span title={error}>
        as of <time title={formatAbsolute(at)}>{formatMinute(at)}</time>
      </span>
      <Button small title={error} onPress={retry}>
        Retry
      </Button>
    </span>
  );
}

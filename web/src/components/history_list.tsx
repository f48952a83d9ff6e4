// Everything that happened to a job, newest first.
import type { JobEvent } from "../api/types";
import { formatAbsolute, formatClock } from "../model/times";

export function HistoryList({ events }: { events: readonly JobEvent[] }) {
  if (events.length === 0) return <p class="muted panel-text">Nothing has happened yet.</p>;
  return (
    <ol class="history">
      {[...events].reverse().map((event) => (
        <li key={event.id}>
          <time
            class="muted number"
            dateTime={new Date(event.time_ms).toISOString()}
            title={formatAbsolute(event.time_ms)}
          >
            {formatClock(event.time_ms)}
          </time>
          <span class="history-type">{event.type.replace(/_/g, " ")}</span>
          <span class="history-text">{event.text}</span>
        </li>
      ))}
    </ol>
  );
}

// Everything that happened to a job, newest first.
import type { History } from "./use_history";
import { formatAbsolute, formatClock } from "../model/times";

export function HistoryList({ history }: { history: History }) {
  const { events, error } = history;
  if (error) return <p class="error-text panel-text">{error}</p>;
  if (events.length === 0) return <p class="muted panel-text">Nothing has happened yet.</p>;
  return (
    <ol class="history" tabIndex={0} aria-label="History, newest first">
      {[...events].reverse().map((event) => (
        <li key={event.id} class={`level-${event.level}`}>
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

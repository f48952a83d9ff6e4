// Everything that happened to a job, newest first.
import { formatClock, formatDay } from "../format/times";
import type { Shown } from "../hooks/use_query";
import type { JobEvent } from "../api/types";
import { now } from "../state/clock";
import { Fragment } from "preact";
import { AsOf } from "../ui/as_of";
import { NotYet } from "../ui/notice";
import { Moment } from "../ui/times";

export function HistoryList({ history }: { history: Shown<JobEvent[]> }) {
  const { data: events } = history;
  if (!events) return <NotYet what="the history" shown={history} />;
  if (events.length === 0) return <p class="muted panel-text">Nothing has happened yet.</p>;
  const severalDays = dayOf(events[0]) !== formatDay(now.value);
  return (
    <>
      {history.error && (
        <p class="panel-text">
          <AsOf shown={history} />
        </p>
      )}
      <ol class="history" tabIndex={0} aria-label="History, newest first">
        {[...events].reverse().map((event, index, all) => (
          <Fragment key={event.id}>
            {severalDays && formatDay(event.time_ms) !== dayOf(all[index - 1]) && (
              <li class="history-day">{formatDay(event.time_ms)}</li>
            )}
            <li class={`level-${event.level}`}>
              <span class="muted">
                <Moment ms={event.time_ms}>{formatClock(event.time_ms)}</Moment>
              </span>
              <span class="history-type">{event.type.replace(/_/g, " ")}</span>
              <span class="history-text">{event.text}</span>
            </li>
          </Fragment>
        ))}
      </ol>
    </>
  );
}

const dayOf = (event: JobEvent | undefined) => event && formatDay(event.time_ms);

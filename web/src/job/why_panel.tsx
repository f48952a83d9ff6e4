// Why a queued job waits, when it is expected to start, and what would start it sooner. The forecast is the coordinator's
// and is fetched again at intervals.
import { getWhy } from "../api/client";
import type { Blocker, Job, Sooner, StartForecast } from "../api/types";
import { formatAbsolute } from "../format/times";
import { basisOf, reasonBeside, settingsOf, startRange, untilStart } from "../model/why";
import { now } from "../state/clock";
import { useInterval } from "../hooks/use_interval";
import { useQuery } from "../hooks/use_query";
import { AsOf } from "../ui/as_of";
import "../styles/why.css";

const refreshMs = 20_000;

/** `changes` increases when the job changes. */
export function WhyPanel({ job: { id, reason }, changes }: { job: Job; changes: number }) {
  const turn = useInterval(refreshMs);
  const shown = useQuery(`why ${id}`, (signal) => getWhy(id, signal), [changes, turn]);
  const { data, error } = shown;
  const beside = reasonBeside(reason, data?.blockers ?? []);
  return (
    <section class="panel why" aria-label="Why is it waiting">
      <header class="panel-head">
        <h2>Why is it waiting?</h2>
        <AsOf shown={shown} />
      </header>
      {beside && (
        <p class="panel-text why-reason" role="status">
          {beside}
        </p>
      )}
      {data?.start ? (
        <div class="why-parts">
          <Blockers blockers={data.blockers} />
          <Start start={data.start} />
          <SoonerList sooner={data.sooner} />
        </div>
      ) : (
        <p class="panel-text muted">{error || "Looking ahead…"}</p>
      )}
    </section>
  );
}

function Blockers({ blockers }: { blockers: Blocker[] }) {
  return (
    <ul class="why-blockers">
      {blockers.map((blocker) => (
        <li key={blocker.sentence} class={`why-${blocker.code}`}>
          {blocker.sentence}{" "}
          {blocker.job !== null && <a href={`#/jobs/${blocker.job}`}>See job {blocker.job}</a>}
        </li>
      ))}
    </ul>
  );
}

function Start({ start }: { start: StartForecast }) {
  const nowMs = now.value;
  return (
    <dl class="why-start">
      <dt>Expected start</dt>
      <dd>
        <span
          class="why-expected number"
          title={start.expected_ms === null ? undefined : formatAbsolute(start.expected_ms)}
        >
          {untilStart(start.expected_ms, nowMs)}
        </span>{" "}
        <span class="muted">{startRange(start, nowMs)}</span>
      </dd>
      {start.reserved_ms !== null && (
        <>
          <dt>Reserved</dt>
          <dd title={formatAbsolute(start.reserved_ms)}>
            {untilStart(start.reserved_ms, nowMs)} at the latest, if no node fails and no job goes before it
          </dd>
        </>
      )}
      {start.note && (
        <>
          <dt>Note</dt>
          <dd>{start.note}</dd>
        </>
      )}
      <dt class="visually-hidden">Basis</dt>
      <dd class="why-basis muted">{basisOf(start)}</dd>
    </dl>
  );
}

function SoonerList({ sooner }: { sooner: Sooner[] }) {
  return (
    <div class="why-sooner">
      <h3>What would start it sooner</h3>
      {sooner.length === 0 ? (
        <p class="muted">No single change to its request would.</p>
      ) : (
        <ul>
          {sooner.map((each) => (
            <li key={each.change}>
              {each.sentence}
              {settingsOf(each).map((line) => (
                <code key={line}>{line}</code>
              ))}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

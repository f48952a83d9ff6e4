// The figures of a job in a row of boxes.
import type { ComponentChildren } from "preact";
import { type JobDetail, type Target, fromWire } from "../api/types";
import { formatCount, formatNumber } from "../format/numbers";
import { formatAbsolute, formatDuration } from "../format/times";
import { ProgressBar } from "./progress_bar";
import { fraction, latestLoss, latestThroughput } from "../model/job_list";
import { isReplica } from "../model/command";
import { describeLayout, describeSizes, layoutOf } from "../model/layout";
import {
  describeTarget,
  elapsedSeconds,
  isOfAnEnd,
  secondsToLastStep,
  targetFraction,
} from "../model/progress";
import { describeLimit, describeOthers } from "../model/restarts";
import type { SeriesMap } from "../model/series";
import { now } from "../state/clock";
import { Moment } from "../ui/times";

interface Properties {
  job: JobDetail;
  series: SeriesMap | null;
  /** Whether steps, a loss and a throughput are expected of it. */
  trains: boolean;
}

export function JobStats({ job, series, trains }: Properties) {
  return (
    <dl class="stats">
      <ProgressStat job={job} trains={trains} />
      <TargetStat job={job} series={series} />
      <ClockStat job={job} trains={trains} />
      <NumberStats job={job} trains={trains} />
    </dl>
  );
}

function Stat({
  name,
  children,
  note,
  wide,
}: {
  name: string;
  children: ComponentChildren;
  note?: ComponentChildren;
  wide?: boolean;
}) {
  return (
    <div class={wide ? "stat stat-wide" : "stat"}>
      <dt title={name}>{name}</dt>
      <dd>
        <span class="stat-value number">{children}</span>
        {note && <span class="stat-note">{note}</span>}
      </dd>
    </div>
  );
}

/** A job that has not started has no figures. */
const isExpected = (job: JobDetail, trains: boolean) => trains && job.started_ms !== null;

function ProgressStat({ job, trains }: { job: JobDetail; trains: boolean }) {
  if (!job.progress && !isExpected(job, trains)) return null;
  const left = secondsToLastStep(job, job.attempts.at(-1));
  const note = left === null ? undefined : `${formatDuration(left)} to the last step`;
  return (
    <Stat name="Progress" wide note={note}>
      {job.progress ? (
        <>
          {formatCount(job.progress.step)}
          <span class="muted">
            {isOfAnEnd(job) && ` / ${formatCount(job.progress.steps)}`}
            <span class="stat-unit"> steps</span>
          </span>
          {isOfAnEnd(job) && <span class="stat-percent">{Math.floor(fraction(job) * 100)} %</span>}
        </>
      ) : (
        <span class="muted">no step yet</span>
      )}
      <ProgressBar job={job} />
    </Stat>
  );
}

function TargetStat({ job, series }: { job: JobDetail; series: SeriesMap | null }) {
  const { target } = job;
  if (!target) return null;
  const points = series?.get(target.metric) ?? [];
  const part = targetFraction(target, points[0]?.value ?? null);
  return (
    <Stat
      name={describeTarget(target)}
      wide
      note={<TargetNote target={target} isOver={job.ended_ms !== null} />}
    >
      {target.latest == null ? (
        <span class="muted">not evaluated yet</span>
      ) : (
        formatNumber(fromWire(target.latest))
      )}
      {target.best != null && target.best !== target.latest && (
        <span class="muted"> best {formatNumber(fromWire(target.best))}</span>
      )}
      {part !== null && (
        <span class="stat-percent" title="How far the metric has come from its first value to the target">
          {Math.floor(part * 100)} %
        </span>
      )}
      <span
        class={
          target.reached_ms === null ? "progress progress-target" : "progress progress-target is-reached"
        }
        aria-hidden="true"
      >
        <span class="progress-fill" style={{ transform: `scaleX(${part ?? 0})` }} />
      </span>
    </Stat>
  );
}

function TargetNote({ target, isOver }: { target: Target; isOver: boolean }) {
  return (
    <>
      {target.metric}
      {target.reached_ms !== null && (
        <span class="stat-line good" title={formatAbsolute(target.reached_ms)}>
          reached{target.reached_step !== null && ` at step ${formatCount(target.reached_step)}`}
        </span>
      )}
      {target.reached_ms === null && isOver && <span class="stat-line warn">not reached</span>}
    </>
  );
}

function ClockStat({ job, trains }: { job: JobDetail; trains: boolean }) {
  const elapsed = elapsedSeconds(job, now.value);
  const trained = trains || job.target ? job.time_to_train_seconds : null;
  if (trained !== null)
    return (
      <Stat name="Time to train" note="restarts included">
        <strong>{formatDuration(trained)}</strong>
      </Stat>
    );
  return (
    <Stat name={job.ended_ms === null ? "Elapsed" : "Ran for"} note={whenOf(job)}>
      {elapsed === null ? <span class="muted">not started</span> : formatDuration(elapsed)}
    </Stat>
  );
}

/** From the first start of the job to its end. */
function whenOf({ started_ms, ended_ms }: JobDetail): ComponentChildren {
  if (started_ms === null) return undefined;
  return (
    <>
      {ended_ms === null && "since "}
      <Moment ms={started_ms} />
      {ended_ms !== null && (
        <>
          {" to "}
          <Moment ms={ended_ms} />
        </>
      )}
    </>
  );
}

function NumberStats({ job, trains }: { job: JobDetail; trains: boolean }) {
  const loss = latestLoss(job);
  const throughput = latestThroughput(job);
  const none = <span class="muted">–</span>;
  return (
    <>
      {(loss !== null || isExpected(job, trains)) && (
        <Stat name="Loss">{loss === null ? none : formatNumber(loss)}</Stat>
      )}
      {(throughput || isExpected(job, trains)) && (
        <Stat name="Throughput">
          {throughput ? (
            <>
              {formatNumber(throughput.value)} <span class="muted">{throughput.unit}</span>
            </>
          ) : (
            none
          )}
        </Stat>
      )}
      {!job.tracked && <PlaceStats job={job} />}
    </>
  );
}

/** Of a job that Podium schedules. */
function PlaceStats({ job }: { job: JobDetail }) {
  const layout = describeLayout(layoutOf(job.spec, job.devices));
  const perNode = job.per_node > 0 ? `${job.per_node} a node` : "";
  return (
    <>
      <Stat name="Devices" note={[perNode, layout].filter(Boolean).join(", ") || undefined}>
        {describeSizes(job)} <span class="muted">{job.kind}</span>
      </Stat>
      <NodesStat job={job} />
      <AttemptStat job={job} />
      <Stat
        name="Priority"
        note={
          <a href={`#/jobs?q=account:${job.account}`} title="All jobs of this account">
            {job.account}
          </a>
        }
      >
        {job.priority}
      </Stat>
    </>
  );
}

const nodesNamed = 2;

/** The nodes of the newest attempt. */
function NodesStat({ job }: { job: JobDetail }) {
  const nodes = [...new Set(job.attempts.at(-1)?.tasks.map(({ node }) => node))];
  if (nodes.length === 0) return null;
  const others = nodes.length - nodesNamed;
  return (
    <Stat
      name="Nodes"
      note={
        <span title={nodes.join(", ")}>
          {nodes.slice(0, nodesNamed).join(", ")}
          {others > 0 && ` and ${formatCount(others)} more`}
        </span>
      }
    >
      {formatCount(nodes.length)}
    </Stat>
  );
}

function AttemptStat({ job }: { job: JobDetail }) {
  const others = describeOthers(job);
  return (
    <Stat
      name="Attempt"
      note={
        <>
          {!isReplica(job.spec) && describeLimit(job)}
          {others && <span class="stat-line">{others}</span>}
        </>
      }
    >
      {job.attempt > 0 ? job.attempt : <span class="muted">–</span>}
    </Stat>
  );
}

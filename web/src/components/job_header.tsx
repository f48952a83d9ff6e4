// The head of a job's page: what it is, how it stands, and the figures people come for.
import type { ComponentChildren } from "preact";
import type { JobDetail } from "../api/types";
import { fraction, latestLoss, latestThroughput } from "../model/job_list";
import { describeDevices, describeLayout, layoutOf } from "../model/layout";
import { formatCount, formatNumber, fromWire } from "../model/numbers";
import {
  describeTarget,
  elapsedSeconds,
  secondsToLastStep,
  secondsToTarget,
  targetFraction,
} from "../model/progress";
import type { SeriesMap } from "../model/series";
import { formatAbsolute, formatDuration } from "../model/times";
import { now } from "../state/clock";
import { Ago, HeldBadge, JobStateBadge, Labels } from "./badges";
import { JobOperations } from "./job_operations";
import { ProgressBar } from "./progress_bar";

export function JobHeader({ job, series }: { job: JobDetail; series: SeriesMap | null }) {
  return (
    <header class="job-header">
      <div class="job-title">
        <h1>
          <span class="muted number">{job.id}</span> {job.name}
        </h1>
        <JobStateBadge state={job.state} />
        {job.held && <HeldBadge />}
        <Labels labels={job.labels} />
        <span class="job-title-end">
          <a href={`#/experiments/${job.experiment}`}>Experiment {job.experiment}</a>
          <span class="muted">
            submitted <Ago ms={job.submitted_ms} />
          </span>
          <JobOperations job={job} />
        </span>
      </div>
      {job.reason && (
        <p class={`reason reason-${job.state}`} role="status">
          {job.reason}
        </p>
      )}
      <dl class="stats">
        <ProgressStat job={job} />
        <TargetStat job={job} series={series} />
        <ClockStat job={job} />
        <NumberStats job={job} />
      </dl>
    </header>
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

function ProgressStat({ job }: { job: JobDetail }) {
  const left = secondsToLastStep(job, job.attempts.at(-1));
  const note = left === null ? undefined : `${formatDuration(left)} to the last step`;
  return (
    <Stat name="Progress" wide note={note}>
      {job.progress ? (
        <>
          {formatCount(job.progress.step)}
          <span class="muted"> / {formatCount(job.progress.steps)} steps</span>
          <span class="stat-percent">{Math.floor(fraction(job) * 100)}%</span>
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
    <Stat name={describeTarget(target)} wide note={targetNote(job, series)}>
      {target.latest == null ? (
        <span class="muted">not evaluated yet</span>
      ) : (
        formatNumber(fromWire(target.latest))
      )}
      {target.best != null && <span class="muted"> best {formatNumber(fromWire(target.best))}</span>}
      {part !== null && (
        <span class="stat-percent" title="Of the way from the first value to the target">
          {Math.floor(part * 100)}%
        </span>
      )}
      <span
        class={target.reached_ms === null ? "progress target" : "progress target reached"}
        aria-hidden="true"
      >
        <span class="progress-fill" style={{ transform: `scaleX(${part ?? 0})` }} />
      </span>
    </Stat>
  );
}

function targetNote(job: JobDetail, series: SeriesMap | null): ComponentChildren {
  const { target } = job;
  if (!target) return undefined;
  if (target.reached_ms !== null) {
    return (
      <span class="good" title={formatAbsolute(target.reached_ms)}>
        reached{target.reached_step !== null && ` at step ${formatCount(target.reached_step)}`}
      </span>
    );
  }
  if (job.ended_ms !== null) return <span class="warn">not reached</span>;
  if (job.state !== "running") return undefined;
  const left = secondsToTarget(target, series?.get(target.metric) ?? [], now.value);
  return left === null ? undefined : `about ${formatDuration(left)} more at this slope`;
}

function ClockStat({ job }: { job: JobDetail }) {
  if (job.time_to_train_seconds !== null) {
    return (
      <Stat name="Time to train" note="restarts included">
        <strong>{formatDuration(job.time_to_train_seconds)}</strong>
      </Stat>
    );
  }
  const elapsed = elapsedSeconds(job, now.value);
  return (
    <Stat name="Elapsed">
      {elapsed === null ? <span class="muted">not started</span> : formatDuration(elapsed)}
    </Stat>
  );
}

function NumberStats({ job }: { job: JobDetail }) {
  const loss = latestLoss(job);
  const throughput = latestThroughput(job);
  const layout = describeLayout(layoutOf(job.spec, job.devices));
  const perNode = job.per_node > 0 ? `${job.per_node} a node` : "";
  return (
    <>
      <Stat name="Loss">{loss === null ? <span class="muted">–</span> : formatNumber(loss)}</Stat>
      <Stat name="Throughput">
        {throughput ? (
          <>
            {formatNumber(throughput.value)} <span class="muted">{throughput.unit}</span>
          </>
        ) : (
          <span class="muted">–</span>
        )}
      </Stat>
      <Stat name="Devices" note={[perNode, layout].filter(Boolean).join(", ") || undefined}>
        {describeDevices(job)} <span class="muted">{job.kind}</span>
      </Stat>
      <Stat name="Attempt" note={`${job.restarts} of ${job.max_restarts} restarts`}>
        {job.attempt > 0 ? job.attempt : <span class="muted">–</span>}
      </Stat>
      <Stat
        name="Priority"
        note={
          <a href={`#/jobs?q=account:${job.account}`} title="Its account: all jobs of it">
            {job.account}
          </a>
        }
      >
        {job.priority}
      </Stat>
    </>
  );
}

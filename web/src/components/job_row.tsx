// One row of the jobs table. On a narrow screen the same cells become a card of two lines (styles/job_table.css).
import { useComputed } from "@preact/signals";
import type { Job } from "../api/types";
import { latestLoss, latestThroughput } from "../model/job_list";
import { describeDevices } from "../model/layout";
import { formatNumber } from "../model/numbers";
import { elapsedSeconds } from "../model/progress";
import { formatDuration } from "../model/times";
import { now } from "../state/clock";
import { Ago, JobStateBadge, Labels } from "./badges";
import { ProgressBar, StepText } from "./progress_bar";

interface Properties {
  job: Job;
  index: number;
  top: number;
  height: number;
  current: boolean;
  onOpen(): void;
}

export function JobRow({ job, index, top, height, current, onOpen }: Properties) {
  const loss = latestLoss(job);
  const throughput = latestThroughput(job);
  return (
    <div
      id={`job-row-${job.id}`}
      class={`job-row${current ? " current" : ""}${job.progress ? "" : " waiting"}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={current}
      style={{ transform: `translateY(${top}px)`, height: `${height}px` }}
      onClick={onOpen}
    >
      <span role="gridcell" class="c-id number">
        {job.id}
      </span>
      <span role="gridcell" class="c-name">
        <a href={`#/jobs/${job.id}`} tabIndex={-1} title={job.name}>
          {job.name}
        </a>
        <Labels labels={job.labels} />
      </span>
      <span role="gridcell" class="c-state">
        <JobStateBadge state={job.state} />
      </span>
      <span role="gridcell" class="c-progress">
        {job.progress && <ProgressBar job={job} />}
        {job.progress && <StepText progress={job.progress} />}
      </span>
      <span role="gridcell" class="c-loss number">
        {loss === null ? "" : formatNumber(loss)}
      </span>
      <span role="gridcell" class="c-throughput number">
        {throughput && (
          <>
            {formatNumber(throughput.value)} <span class="muted">{throughput.unit}</span>
          </>
        )}
      </span>
      <span role="gridcell" class="c-devices number">
        {describeDevices(job)} <span class="muted">{job.kind}</span>
      </span>
      <span role="gridcell" class="c-priority number">
        {job.priority}
      </span>
      <span role="gridcell" class="c-submitted number">
        <Ago ms={job.submitted_ms} />
      </span>
      <span role="gridcell" class="c-time">
        <Outcome job={job} />
      </span>
    </div>
  );
}

/** Time to train once there is one; before that how long it has run, or why it waits. */
function Outcome({ job }: { job: Job }) {
  if (job.time_to_train_seconds !== null) {
    return (
      <span title="Time to train: from the first start to the target, restarts included">
        <strong class="number">{formatDuration(job.time_to_train_seconds)}</strong>
        {job.restarts > 0 && <span class="muted"> {restarts(job.restarts)}</span>}
      </span>
    );
  }
  if (job.reason) {
    return (
      <span class="muted" title={job.reason}>
        {job.reason}
      </span>
    );
  }
  if (job.started_ms === null) return null;
  return <Running key={job.id} job={job} />;
}

const restarts = (count: number) => (count === 1 ? "1 restart" : `${count} restarts`);

function Running({ job }: { job: Job }) {
  const text = useComputed(() => formatDuration(elapsedSeconds(job, now.value) ?? 0));
  return (
    <span class="muted">
      {job.ended_ms === null ? "for " : "ran "}
      {job.ended_ms === null ? text : formatDuration(elapsedSeconds(job, job.ended_ms) ?? 0)}
      {job.restarts > 0 && `, ${restarts(job.restarts)}`}
    </span>
  );
}

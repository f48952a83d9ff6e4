// The columns of the jobs table.
import { useComputed } from "@preact/signals";
import type { Job } from "../api/types";
import { formatNumber } from "../format/numbers";
import { formatDuration } from "../format/times";
import { HeldBadge, JobStateBadge, Labels, TrackedBadge } from "../ui/badges";
import { ProgressBar, StepText } from "./progress_bar";
import { latestLoss, latestThroughput } from "../model/job_list";
import { describeSizes } from "../model/layout";
import { elapsedSeconds } from "../model/progress";
import { describeRestarts } from "../model/restarts";
import { now } from "../state/clock";
import type { Column } from "../ui/data_table";
import { Ago } from "../ui/times";

const defaultAccount = "default";

export const jobColumns: readonly Column<Job>[] = [
  { key: "id", title: "Job", width: "60px", number: true, sortable: true, cell: ({ id }) => id },
  {
    key: "name",
    title: "Name",
    width: "minmax(130px, 2fr)",
    wraps: true,
    sortable: true,
    cell: ({ id, name, tracked }) => (
      <>
        <a href={`#/jobs/${id}`} tabIndex={-1} title={name}>
          {name}
        </a>
        {tracked && (
          <>
            {" "}
            <TrackedBadge />
          </>
        )}
      </>
    ),
  },
  { key: "state", title: "State", width: "104px", sortable: true, cell: stateOf },
  {
    key: "detail",
    title: "Reason",
    width: "minmax(140px, 3.4fr)",
    wraps: true,
    from: 730,
    has: ({ reason }) => reason !== "",
    cell: ({ reason }) => <span title={reason}>{reason}</span>,
  },
  {
    key: "progress",
    title: "Progress",
    width: "minmax(152px, 1fr)",
    sortable: true,
    has: ({ progress }) => progress !== null,
    cell: (job) => (
      <>
        {job.progress && <ProgressBar job={job} />}
        {job.progress && <StepText progress={job.progress} />}
      </>
    ),
  },
  {
    key: "loss",
    title: "Loss",
    width: "72px",
    number: true,
    sortable: true,
    from: 950,
    has: (job) => latestLoss(job) !== null,
    cell: lossOf,
  },
  {
    key: "throughput",
    title: "Throughput",
    width: "108px",
    number: true,
    sortable: true,
    from: 1160,
    has: (job) => latestThroughput(job) !== null,
    cell: throughputOf,
  },
  {
    key: "devices",
    title: "Devices",
    width: "78px",
    number: true,
    sortable: true,
    from: 1040,
    has: ({ tracked }) => !tracked,
    cell: (job) =>
      !job.tracked && (
        <>
          {describeSizes(job)} <span class="muted">{job.kind}</span>
        </>
      ),
  },
  {
    key: "account",
    title: "Account",
    width: "minmax(96px, 1fr)",
    wraps: true,
    sortable: true,
    from: 1270,
    has: ({ account }) => account !== defaultAccount,
    cell: ({ account }) => (
      <a href={`#/jobs?q=account:${account}`} tabIndex={-1} title={`All jobs of ${account}`}>
        {breakable(account)}
      </a>
    ),
  },
  {
    key: "labels",
    title: "Labels",
    width: "minmax(80px, 1fr)",
    from: 1800,
    has: ({ labels }) => Object.keys(labels).length > 0,
    cell: ({ labels }) => <Labels labels={labels} />,
  },
  {
    key: "priority",
    title: "Priority",
    width: "64px",
    number: true,
    sortable: true,
    from: 1640,
    cell: ({ priority }) => priority,
  },
  {
    key: "submitted",
    title: "Submitted",
    width: "82px",
    number: true,
    sortable: true,
    from: 1520,
    cell: ({ submitted_ms }) => <Ago ms={submitted_ms} />,
  },
  {
    key: "time",
    title: "Time to train",
    width: "minmax(104px, 0.7fr)",
    sortable: true,
    from: 870,
    has: ({ started_ms }) => started_ms !== null,
    cell: (job) => <Time key={job.id} job={job} />,
  },
];

/** Lets a path break after each of its names. */
const breakable = (path: string) =>
  path.split("/").flatMap((name, index) => (index === 0 ? [name] : ["/", <wbr key={index} />, name]));

function stateOf({ state, held }: Job) {
  return (
    <>
      <JobStateBadge state={state} />
      {held && <HeldBadge />}
    </>
  );
}

function lossOf(job: Job) {
  const loss = latestLoss(job);
  return loss === null ? null : formatNumber(loss);
}

function throughputOf(job: Job) {
  const throughput = latestThroughput(job);
  if (!throughput) return null;
  return (
    <>
      {formatNumber(throughput.value)} <span class="muted">{throughput.unit}</span>
    </>
  );
}

/**
 * The time to train if there is one, else how long the job has run. Below it, how often and why the job was
 * restarted.
 */
function Time({ job }: { job: Job }) {
  const ran = useComputed(() => formatDuration(elapsedSeconds(job, now.value) ?? 0));
  if (job.started_ms === null) return null;
  const again = describeRestarts(job.restart_counts);
  const reached = job.time_to_train_seconds;
  return (
    <>
      {reached !== null ? (
        <strong class="number" title="From the first start to the target, restarts included">
          {formatDuration(reached)}
        </strong>
      ) : (
        <span class="muted">
          {job.running_since_ms === null ? "ran" : "for"} {ran}
        </span>
      )}
      {again && (
        <span class="restarts muted" title={again}>
          {again}
        </span>
      )}
    </>
  );
}

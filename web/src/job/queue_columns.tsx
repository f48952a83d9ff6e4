// The columns of the queue: what determines a job's place or, for jobs that wait for something else, what they wait for.
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { operateJob } from "../api/client";
import type { JobApart, QueuedJob, WaitingJob } from "../api/types";
import { formatAbsolute, formatDuration } from "../format/times";
import { useOperation } from "../hooks/use_operation";
import { describeSizes } from "../model/layout";
import { formatFactors, turnOf } from "../model/queue";
import { now } from "../state/clock";
import { applyJob } from "../state/store";
import { mayChange } from "../state/token";
import { Button } from "../ui/button";
import type { Column } from "../ui/data_table";
import { ProblemText } from "../ui/operation_dialog";

const id: Column<WaitingJob> = {
  key: "id",
  title: "Job",
  width: "56px",
  number: true,
  value: ({ job }) => job,
  cell: ({ job }) => job,
};

const name: Column<WaitingJob> = {
  key: "name",
  title: "Name",
  width: "minmax(150px, 2fr)",
  value: ({ name: text }) => text,
  cell: ({ job, name: text }) => (
    <a href={`#/jobs/${job}`} tabIndex={-1} title={text}>
      {text}
    </a>
  ),
};

const reason: Column<WaitingJob> = {
  key: "detail",
  title: "Reason",
  width: "minmax(180px, 4fr)",
  wraps: true,
  cell: ({ reason: text }) => <span title={text}>{text}</span>,
};

const priority: Column<WaitingJob> = {
  key: "priority",
  title: "Priority",
  width: "64px",
  number: true,
  from: 860,
  value: (job) => job.priority,
  cell: (job) => job.priority,
};

const waited: Column<WaitingJob> = {
  key: "waited",
  title: "Waited",
  width: "72px",
  number: true,
  from: 780,
  value: ({ submitted_ms }) => -submitted_ms,
  cell: ({ job, submitted_ms }) => <Waited key={job} sinceMs={submitted_ms} />,
};

function Waited({ sinceMs }: { sinceMs: number }) {
  const text = useComputed(() => formatDuration(Math.max(0, Math.floor((now.value - sinceMs) / 1000))));
  return <>{text}</>;
}

const devices = (text: (job: WaitingJob) => ComponentChildren): Column<WaitingJob> => ({
  key: "devices",
  title: "Devices",
  width: "72px",
  number: true,
  value: (job) => job.devices,
  cell: text,
});

const points = (
  key: string,
  title: string,
  width: string,
  hint: string,
  sign: string,
  value: (job: QueuedJob) => number | null,
): Column<QueuedJob> => ({
  key,
  title,
  hint,
  width,
  number: true,
  from: 1180,
  has: ({ score }) => score !== null,
  value,
  cell: (job) => signed(sign, value(job)),
});

/** `sign`: before a value above 0. */
const signed = (sign: string, value: number | null) =>
  value === null ? "–" : `${value > 0 ? sign : value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)}`;

const accountOf = ({ account }: WaitingJob) => (
  <a href="#/accounts" tabIndex={-1} title={account}>
    {account}
  </a>
);

/** `reservedFrom`: the first position whose start is reserved; null if there is none. */
export const queueColumns = (reservedFrom: number | null): readonly Column<QueuedJob>[] => [
  {
    key: "position",
    title: "#",
    width: "44px",
    number: true,
    value: ({ position }) => position,
    cell: ({ position }) => position,
  },
  id,
  name,
  reason,
  {
    key: "account",
    title: "Account",
    width: "minmax(96px, 1.4fr)",
    from: 940,
    value: ({ account }) => account,
    cell: (job) => (
      <>
        {accountOf(job)}
        {job.account_factors && (
          <span
            class="factors muted"
            title="Device hours used ÷ share: of the accounts above it, then of its own"
          >
            {formatFactors(job)}
          </span>
        )}
      </>
    ),
  },
  {
    key: "guaranteed",
    title: "Guaranteed",
    width: "82px",
    from: 1300,
    has: ({ guaranteed_by }) => guaranteed_by !== null,
    cell: ({ guaranteed_by }) =>
      guaranteed_by === null ? (
        <span class="muted">no</span>
      ) : (
        <span class="good" title={`The quota of ${guaranteed_by} covers it`}>
          yes
        </span>
      ),
  },
  priority,
  points(
    "age",
    "By age",
    "60px",
    "Points added to the priority for waiting",
    "+",
    ({ age_points }) => age_points,
  ),
  points(
    "walltime-points",
    "By walltime",
    "96px",
    "Points taken from the priority for walltime",
    "−",
    ({ walltime_points }) => walltime_points,
  ),
  points(
    "score",
    "Score",
    "60px",
    "Priority and points together; the highest goes first",
    "",
    ({ score }) => score,
  ),
  devices(describeSizes),
  {
    key: "walltime",
    title: "Walltime",
    width: "78px",
    number: true,
    from: 1060,
    value: ({ walltime_seconds }) => walltime_seconds,
    cell: ({ walltime_seconds }) => formatDuration(walltime_seconds),
  },
  waited,
  {
    key: "turn",
    title: "Turn",
    width: "96px",
    cell: (job) => (
      <span title={job.reserved_ms === null ? undefined : formatAbsolute(job.reserved_ms)}>
        <Turn key={job.job} job={job} reservedFrom={reservedFrom} />
      </span>
    ),
  },
];

function Turn({ job, reservedFrom }: { job: QueuedJob; reservedFrom: number | null }) {
  return <>{turnOf(job, reservedFrom, now.value)}</>;
}

export const apartColumns: readonly Column<JobApart>[] = [
  id,
  name,
  reason,
  {
    key: "account",
    title: "Account",
    width: "minmax(96px, 1fr)",
    from: 860,
    value: ({ account }) => account,
    cell: accountOf,
  },
  priority,
  {
    ...devices((job) => describeSizes(job)),
    width: "84px",
    cell: (job) => `${describeSizes(job)} ${job.kind}`,
  },
  waited,
  {
    key: "change",
    title: <span class="visually-hidden">Change</span>,
    width: "minmax(84px, max-content)",
    cell: (job) => <Release key={job.job} job={job} />,
  },
];

function Release({ job: { job, blocker } }: { job: JobApart }) {
  const release = useOperation();
  if (blocker !== "held" || !mayChange.value) return null;
  return (
    <>
      <Button
        small
        name={`Release job ${job}`}
        disabled={release.busy}
        onPress={() => void release.run((token) => operateJob(job, "release", token), applyJob)}
      >
        Release
      </Button>
      <ProblemText operation={release} />
    </>
  );
}

// The queue in words: the policy, and when each job's turn is.
import type { JobApart, Queue, QueuedJob } from "../api/types";
import { formatCount, formatHours } from "../format/numbers";
import { formatDuration } from "../format/times";

/** What determines the order, in the words of `podium queue --help`. */
export function describePolicy(queue: Queue): string {
  const { policy, ageing_seconds, walltime_weight, walltime_points } = queue;
  const walltime =
    walltime_weight > 0
      ? ` and a point less for ${formatDuration(ageing_seconds / walltime_weight)} of walltime, ${walltime_points} at most`
      : "";
  const score = `the priority, a point more for ${formatDuration(ageing_seconds)} of waiting${walltime}`;
  switch (policy) {
    case "fifo":
      return "in the order of submission";
    case "priority-backfill":
      return `the highest score first: ${score}`;
    case "fair-share":
      return `the account that has used least of its share first; within it the highest score: ${score}`;
    case "least-attained-service":
      return "the job that has run least first";
    case "shortest-remaining-time":
      return "the job with the least left of its walltime first";
    default:
      return "";
  }
}

interface Line<Row> {
  id: string;
  /** The title on the switch between lines. */
  title: string;
  sentence: string;
  total: number;
  jobs: readonly Row[];
}

/** Jobs that wait for devices of one kind, or for something else. */
export type WaitingLine =
  | (Line<QueuedJob> & {
      kind: "queue";
      /** The first position whose start is reserved; null if there is none. */
      reservedFrom: number | null;
    })
  | (Line<JobApart> & { kind: "apart" });

const countJobs = (count: number) => (count === 1 ? "1 job" : `${formatCount(count)} jobs`);

export function linesOf({ queues, apart }: Queue): WaitingLine[] {
  const lines = queues.map(({ kind, total, jobs }): WaitingLine => {
    const first = jobs.find(({ reserved_ms }) => reserved_ms !== null);
    const sentence = `${countJobs(total)} waiting for ${kind} devices`;
    const reservedFrom = first?.position ?? null;
    return { kind: "queue", id: kind, title: kind, sentence, total, jobs, reservedFrom };
  });
  if (apart.total === 0) return lines;
  const sentence = `${countJobs(apart.total)} held or after others`;
  return [...lines, { kind: "apart", id: "apart", title: "held or after others", sentence, ...apart }];
}

/** "by 2h 5m" or "now" for a job with a reserved start; "backfill" for a job behind the first of those. */
export function turnOf(job: QueuedJob, reservedFrom: number | null, nowMs: number): string {
  if (job.reserved_ms !== null) {
    const seconds = Math.round((job.reserved_ms - nowMs) / 1000);
    return seconds > 0 ? `by ${formatDuration(seconds)}` : "now";
  }
  return reservedFrom !== null && job.position > reservedFrom ? "backfill" : "in order";
}

/** "312.0 › 4.5": device hours ÷ share, for each account above the job's and for its own. */
export const formatFactors = ({ account_factors }: QueuedJob) =>
  (account_factors ?? []).map((factor) => formatHours(factor)).join(" › ");

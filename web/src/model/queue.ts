// The queue in words: what the policy goes by, and whose turn it is.
import type { QueuedJob, QueueOfKind } from "../api/types";
import { formatDuration } from "./times";

export function describePolicy(policy: string, ageingSeconds: number, walltimeWeight: number): string {
  const ageing =
    `${formatDuration(ageingSeconds)} of waiting weighs as much as a point of priority` +
    (walltimeWeight > 0
      ? `, and ${formatDuration(walltimeWeight * 3600)} as much as one hour less of walltime`
      : "");
  switch (policy) {
    case "fifo":
      return "in the order of submission";
    case "priority-backfill":
      return `highest priority first; ${ageing}`;
    case "fair-share":
      return `the account that has used least of its share first; within it the highest priority, and ${ageing}`;
    case "least-attained-service":
      return "the job that has run least first";
    case "shortest-remaining-time":
      return "the job with the least left of its walltime first";
    default:
      return "";
  }
}

/** "by 2h 5m" for a job whose start is reserved; "backfill" for one behind it. */
export function turnOf(queue: QueueOfKind, index: number, nowMs: number): string {
  const job = queue.jobs[index]!;
  if (job.reserved_ms !== null)
    return `by ${formatDuration(Math.max(0, Math.round((job.reserved_ms - nowMs) / 1000)))}`;
  return queue.jobs.slice(0, index).some(({ reserved_ms }) => reserved_ms !== null) ? "backfill" : "in order";
}

/** "312.0 › 4.5": device hours by share, of the account and those above it. */
export const formatFactors = ({ account_factors }: QueuedJob) =>
  (account_factors ?? []).map((factor) => formatHours(factor)).join(" › ");

export const formatHours = (deviceSeconds: number) =>
  (deviceSeconds / 3600).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

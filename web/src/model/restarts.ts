// How often a job was restarted, by cause.
import type { Job } from "../api/types";

const kinds: [key: keyof Job["restart_counts"], one: string, more: string][] = [
  ["failures", "failure", "failures"],
  ["node_losses", "lost node", "lost nodes"],
  ["preemptions", "preemption", "preemptions"],
  ["resizes", "resize", "resizes"],
  ["promotions", "promotion", "promotions"],
  ["moves", "move", "moves"],
  ["requeues", "requeue", "requeues"],
];

/** "2 failures, 1 resize"; "" if it was never restarted. */
export function describeRestarts(counts: Job["restart_counts"]): string {
  return kinds
    .filter(([key]) => counts[key] > 0)
    .map(([key, one, more]) => `${counts[key]} ${counts[key] === 1 ? one : more}`)
    .join(", ");
}

/** The restarts that count against the limit. */
export const describeLimit = ({ restarts_used: used, max_restarts: most }: Job) =>
  `${used} of ${most} ${most === 1 ? "failure" : "failures"}`;

/** The restarts that do not count against the limit. */
export const describeOthers = ({ restart_counts: counts, restarts_used: used }: Job) =>
  describeRestarts({ ...counts, failures: counts.failures - used });

// How often a job was started again, told by what brought it about.
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

/** "2 failures, 1 resize"; "" where it never was. */
export function describeRestarts(counts: Job["restart_counts"]): string {
  return kinds
    .filter(([key]) => counts[key] > 0)
    .map(([key, one, more]) => `${counts[key]} ${counts[key] === 1 ? one : more}`)
    .join(", ");
}

/** Of those that the limit counts. */
export const describeLimit = ({ restarts_used: used, max_restarts: most }: Job) =>
  `${used} of ${most} ${most === 1 ? "failure" : "failures"}`;

/** What does not count against the limit. */
export const describeOthers = ({ restart_counts: counts, restarts_used: used }: Job) =>
  describeRestarts({ ...counts, failures: counts.failures - used });

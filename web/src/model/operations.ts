// Which operations fit a job in its state. The coordinator decides.
import type { Job } from "../api/types";

export interface Offer {
  hold: boolean;
  release: boolean;
  priority: boolean;
  /**
   * stop: the job runs and would wait in the queue again. retry: it waits after a failure, perhaps backing off.
   * again: it has ended.
   */
  requeue: "stop" | "retry" | "again" | null;
  cancel: boolean;
}

const nothing: Offer = { hold: false, release: false, priority: false, requeue: null, cancel: false };

/** The fields of a job that decide which operations fit. */
export type Operated = Pick<Job, "id" | "state" | "held" | "attempt" | "priority"> & { tracked?: boolean };

export function offerFor(job: Operated): Offer {
  if (job.tracked) return { ...nothing, cancel: job.state === "queued" || job.state === "running" };
  const holding = { hold: !job.held, release: job.held };
  switch (job.state) {
    case "queued":
      return {
        ...holding,
        priority: true,
        requeue: job.attempt > 0 && !job.held ? "retry" : null,
        cancel: true,
      };
    case "starting":
    case "running":
      return { ...holding, priority: true, requeue: "stop", cancel: true };
    case "stopping":
      return { ...nothing, ...holding, cancel: true };
    case "failed":
    case "cancelled":
    case "stopped":
      return { ...nothing, requeue: "again" };
    default:
      return nothing;
  }
}

/** The priority that was typed, or why it is invalid. */
export function readPriority(text: string): number | string {
  const priority = Number(text);
  return text.trim() !== "" && Number.isInteger(priority) && priority >= 0 && priority <= 100
    ? priority
    : "A priority is a whole number from 0 to 100.";
}

// How live messages change a job and its detail.
import type { Job, JobDetail, LivePoint } from "../api/types";

export function withPoints(job: Job, points: readonly LivePoint[]): Job {
  const latest = { ...job.latest };
  let { progress, target } = job;
  for (const point of points) {
    latest[point.key] = point.value;
    if (progress && point.step > progress.step) {
      // A program that does not report its number of steps has no last step.
      const step = progress.steps > 0 ? Math.min(point.step, progress.steps) : point.step;
      progress = { ...progress, step, updated_ms: point.time_ms };
    }
    if (target && point.key === target.metric) target = { ...target, latest: point.value };
  }
  return { ...job, latest, progress, target };
}

/** The job of the list is at least as new as the detail, and so is the step of the running attempt. */
export function withLive(detail: JobDetail, live: Job | undefined): JobDetail {
  const job = { ...detail, ...live };
  const step = job.progress?.step ?? null;
  const attempts = detail.attempts.map((attempt) =>
    attempt.ended_ms === null && attempt.first_step !== null ? { ...attempt, last_step: step } : attempt,
  );
  return { ...job, attempts };
}

/**
 * What the scheduler sees of a job. While it does not change, neither do the job's place in the queue and its
 * forecast.
 */
export const stampOf = (job: Job) => [job.state, job.attempt, job.priority, job.held, job.reason].join(" ");

/** What lists of jobs depend on: filters, the counts of states, and every order that training alone does not change. */
export const listStampOf = (job: Job) =>
  [job.state, job.account, job.priority, job.devices, job.submitted_ms, job.time_to_train_seconds].join(" ");

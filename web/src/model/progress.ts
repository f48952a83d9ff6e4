// How far a job is, how long it has run, and when it will be done, as far as that is known.
import { type Attempt, type Job, type Target, fromWire } from "../api/types";
import { formatPlain } from "../format/numbers";

/** The seconds that its attempts ran; the number stands still while the job waits. Null before its first start. */
export function elapsedSeconds(job: Job, nowMs: number): number | null {
  if (job.started_ms === null) return null;
  const running = job.running_since_ms === null ? 0 : (nowMs - job.running_since_ms) / 1000;
  return job.ran_seconds + Math.max(0, running);
}

/** Whether it is known how many steps there will be. */
export const isOfAnEnd = ({ progress }: Pick<Job, "progress">) => progress === null || progress.steps > 0;

/** Seconds until the schedule's last step at the pace of this attempt. */
export function secondsToLastStep(job: Job, attempt: Attempt | undefined): number | null {
  const { progress } = job;
  if (job.state !== "running" || !progress || !isOfAnEnd(job) || !attempt?.started_ms) return null;
  const steps = progress.step - (attempt.first_step ?? 0);
  const seconds = (progress.updated_ms - attempt.started_ms) / 1000;
  if (steps <= 0 || seconds <= 0) return null;
  return ((progress.steps - progress.step) * seconds) / steps;
}

export const threshold = (target: Target) => target.at_least ?? target.at_most ?? NaN;

/** Whether there is a forecast of when it reaches its target. */
export const isProjected = ({ state, target }: Job) =>
  state === "running" && target !== null && target.reached_ms === null;

export function describeTarget(target: Target): string {
  const bound = target.at_least != null ? "≥" : "≤";
  return `Target ${bound} ${formatPlain(threshold(target))}`;
}

/** From 0 at the first value to 1 at the threshold: the part of the way that is done. */
export function targetFraction(target: Target, first: number | null): number | null {
  if (target.reached_ms !== null) return 1;
  const best = target.best ?? target.latest;
  if (best == null || first === null) return null;
  const way = threshold(target) - first;
  if (way === 0) return null;
  return Math.max(0, Math.min(1, (fromWire(best) - first) / way));
}

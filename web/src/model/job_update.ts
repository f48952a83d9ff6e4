// What a batch of live metric points changes in the job they belong to.
import type { Job, LivePoint } from "../api/types";

export function withPoints(job: Job, points: readonly LivePoint[]): Job {
  const latest = { ...job.latest };
  let { progress, target } = job;
  for (const point of points) {
    latest[point.key] = point.value;
    if (progress && point.step > progress.step) {
      progress = { ...progress, step: Math.min(point.step, progress.steps), updated_ms: point.time_ms };
    }
    if (target && point.key === target.metric) target = { ...target, latest: point.value };
  }
  return { ...job, latest, progress, target };
}

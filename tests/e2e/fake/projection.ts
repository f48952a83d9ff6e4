// When a generated job reaches its target: a fan that widens from the last point of its curve to the end of the training.
import type { Job, Projection } from "../../../web/src/api/types";
import type { Cluster } from "./cluster";
import { makeSeries } from "./curves";
import { detailOf } from "./quickstart";

const fanPoints = 20;
const fewestPoints = 6;

export function projectionOf(job: Job, cluster: Cluster): Projection {
  const none = { p10: null, p50: null, p90: null };
  const silent = { job: job.id, metric: job.target?.metric ?? null, step: none, time_ms: none, reaches: 0 };
  const doubted = (doubt: string): Projection => ({ ...silent, ends_ms: null, fan: [], doubt });
  const { target, progress, started_ms: started } = job;
  if (!target) return doubted("it has no target");
  if (job.state !== "running" || !progress || started === null) return doubted(`it is ${job.state}`);
  const all = makeSeries(detailOf(job, cluster));
  const points = all.find(({ key }) => key === target.metric)?.points ?? [];
  if (points.length < fewestPoints)
    return doubted(`its curve has ${points.length} points; ${fewestPoints} are needed`);
  const wanted = target.at_least ?? target.at_most ?? 0;
  const last = points.at(-1)!;
  const [before, value] = [Number(points[0]![2]), Number(last[2])];
  const slope = (value - before) / (last[0] - points[0]![0]);
  const at = (step: number, quick: number) => value + slope * quick * (step - last[0]);
  const steps = progress.steps;
  const fan = Array.from({ length: fanPoints }, (_, index): Projection["fan"][number] => {
    const step = Math.round(last[0] + ((index + 1) / fanPoints) * (steps - last[0]));
    const low = Math.min(at(step, 0.6), at(step, 1.4));
    return [step, low, at(step, 1), Math.max(at(step, 0.6), at(step, 1.4))];
  });
  const stepAt = (quick: number) => {
    const step = Math.round(last[0] + (wanted - value) / (slope * quick));
    return step > last[0] && step <= steps ? step : null;
  };
  const msAStep = (progress.updated_ms - started) / Math.max(1, progress.step);
  const timeAt = (step: number | null) =>
    step === null ? null : Math.round(progress.updated_ms + (step - progress.step) * msAStep);
  const step = { p10: stepAt(1.4), p50: stepAt(1), p90: stepAt(0.6) };
  return {
    job: job.id,
    metric: target.metric,
    step,
    time_ms: { p10: timeAt(step.p10), p50: timeAt(step.p50), p90: timeAt(step.p90) },
    reaches: Object.values(step).filter((each) => each !== null).length / 3,
    ends_ms: timeAt(steps),
    fan,
    doubt: "",
  };
}

// Metric series like those of a BERT pre-training: a plateau at the unigram entropy, the fall from it, and noise that
// shrinks.
import type { JobDetail, Metric, WirePoint, WireSeries } from "../../../web/src/api/types";
import { Random } from "./random";

const unigram = 5.62;

/** The further a job's label "lr" is from 1e-3, the slower it learns; larger batches learn a little faster. */
function learningOf({ labels }: JobDetail): number {
  const [lr = 1e-3, batch = 64] = [labels["lr"], labels["batch"]].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  return Math.exp(-0.5 * Math.log10(lr / 1.3e-3) ** 2) * (batch / 64) ** 0.08;
}

function lossAt(fraction: number): number {
  const warm = 7.9 * Math.exp(-fraction * 40);
  const plateau = unigram - 0.05;
  const fall = 1.6 / (1 + Math.exp(-(fraction - 0.42) * 11)) + 0.35 * fraction;
  return warm * 0.28 + plateau - fall;
}

/** The steps that a job has run, attempt by attempt. Steps after the last checkpoint are run again. */
function timeline(job: JobDetail): { step: number; timeMs: number }[] {
  const points: { step: number; timeMs: number }[] = [];
  for (const attempt of job.attempts) {
    if (attempt.started_ms === null) continue;
    const end = attempt.ended_ms ?? job.progress?.updated_ms ?? attempt.started_ms;
    const first = attempt.first_step ?? 0;
    const last = attempt.last_step ?? 0;
    const steps = last - first;
    for (let step = first + 10; step <= last; step += 10) {
      const part = (step - first) / Math.max(1, steps);
      points.push({ step, timeMs: Math.round(attempt.started_ms + part * (end - attempt.started_ms)) });
    }
  }
  return points;
}

export function makeSeries(job: JobDetail): WireSeries[] {
  const random = new Random(job.id * 7919);
  const total = job.progress?.steps ?? 1;
  const learning = learningOf(job);
  const series = new Map<string, WirePoint[]>();
  const add = (key: string, step: number, timeMs: number, value: number) => {
    const points = series.get(key) ?? [];
    points.push([step, timeMs, value]);
    series.set(key, points);
  };
  const pace = 260 * job.devices ** 0.93;
  for (const { step, timeMs } of timeline(job)) {
    const fraction = (learning * step) / total;
    const mlm = lossAt(fraction) + random.between(-1, 1) * 0.16;
    const nsp = 0.69 - 0.35 * fraction + random.between(-1, 1) * 0.04;
    const speed = pace * (1 + random.between(-0.03, 0.02)) * (random.next() < 0.01 ? 0.7 : 1);
    add("train/loss", step, timeMs, mlm + nsp);
    add("train/mlm_loss", step, timeMs, mlm);
    add("train/nsp_loss", step, timeMs, nsp);
    add(
      "train/learning_rate",
      step,
      timeMs,
      1e-3 * Math.min(1, fraction / 0.05) * Math.max(0.02, 1 - fraction),
    );
    add("train/grad_norm", step, timeMs, 1.1 + 1.4 * Math.exp(-fraction * 12) + random.between(0, 0.35));
    add("train/sequences_per_second", step, timeMs, speed);
    add("train/tokens_per_second", step, timeMs, speed * 64);
    if (step % 50 === 0) addEvaluation(add, random, step, timeMs, fraction);
  }
  return [...series].map(([key, points]) => ({ key, points, lost_points: 0 }));
}

function addEvaluation(
  add: (key: string, step: number, timeMs: number, value: number) => void,
  random: Random,
  step: number,
  timeMs: number,
  fraction: number,
): void {
  const loss = lossAt(fraction) + 0.06 + random.between(-1, 1) * 0.02;
  add("eval/mlm_loss", step, timeMs, loss);
  add("eval/unigram_loss", step, timeMs, unigram);
  add("eval/gain_over_unigram", step, timeMs, unigram - loss);
  add(
    "eval/mlm_accuracy",
    step,
    timeMs,
    0.08 + 0.34 / (1 + Math.exp(-(fraction - 0.45) * 9)) + random.between(-0.006, 0.006),
  );
  add("eval/nsp_accuracy", step, timeMs, 0.5 + 0.38 * fraction + random.between(-0.02, 0.02));
}

export function metricsOf(series: readonly WireSeries[]): Metric[] {
  return series.map(({ key, points }) => {
    const values = points.map(([, , value]) => Number(value));
    const last = points.at(-1)!;
    return {
      key,
      count: points.length,
      first_step: points[0]![0],
      last_step: last[0],
      last_ms: last[1],
      lost_points: 0,
      last: last[2],
      min: Math.min(...values),
      max: Math.max(...values),
    };
  });
}

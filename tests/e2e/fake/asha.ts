// A sweep of the fake coordinator that ends its losing trials: nine learning rates, of which one in three goes on at each
// rung. Most have been judged, one still trains, one waits and one has failed.
import type { Asha, Job, StudyFields, Trial } from "../../../web/src/api/types";

export const ashaStudy = 9300;

const [minSteps, reduction, maxSteps] = [200, 3, 1800];
const rungSteps = [minSteps, minSteps * reduction];
const rates = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2];

export const ashaSweep: StudyFields["sweep"] = {
  "training.optimizer.lr": rates,
  asha: { min_steps: minSteps, reduction } as unknown as Record<string, never>,
};

interface Way {
  state: Trial["state"];
  rung: number;
  steps: number;
}

/** In the order of the rates. */
const ways: Way[] = [
  { state: "paused", rung: 1, steps: 200 },
  { state: "paused", rung: 1, steps: 200 },
  { state: "paused", rung: 2, steps: 600 },
  { state: "running", rung: 2, steps: 1320 },
  { state: "paused", rung: 1, steps: 200 },
  { state: "running", rung: 1, steps: 410 },
  { state: "paused", rung: 1, steps: 210 },
  { state: "failed", rung: 0, steps: 90 },
  { state: "waiting", rung: 0, steps: 0 },
];

const jobStates: Record<Trial["state"], Job["state"]> = {
  ...{ waiting: "queued", running: "running", paused: "queued", stopped: "stopped" },
  ...{ finished: "succeeded", failed: "failed", cancelled: "cancelled" },
};

export function addTrials(add: (changes: Partial<Job>) => void): void {
  ways.forEach(({ state }, index) => {
    const reason = state === "failed" ? "rank 0 on node-2 exited with 75: loss is not finite at step 90" : "";
    add({ devices: 1, state: jobStates[state], labels: { lr: String(rates[index]) }, reason });
  });
}

/** Best at 1e-3, worse with distance from it, better with every step; too high a rate diverges. */
function lossAt(rate: number, step: number): number | null {
  if (rate >= 1e-2) return null;
  return 4.2 + 0.5 * Math.abs(Math.log10(rate / 1e-3)) + 2.4 * Math.exp(-step / 500);
}

const wayOf = (job: Job): [rate: number, way: Way] => {
  const rate = Number(job.labels["lr"]);
  return [rate, ways[rates.indexOf(rate)]!];
};

export function trialOf(job: Job): Trial {
  const [rate, { state, rung, steps }] = wayOf(job);
  return {
    state,
    rung,
    to_its_end: rung === rungSteps.length && state === "running",
    reports: rungSteps.slice(0, rung).map((step, index) => ({
      ...{ rung: index + 1, step, value: lossAt(rate, step) },
    })),
    latest: steps < minSteps ? null : { step: steps, value: lossAt(rate, steps) },
    steps,
    device_seconds: steps * 0.11,
  };
}

export function ashaOf(jobs: readonly Job[]): Asha {
  const trials = jobs.map((job) => ({ job, trial: trialOf(job) }));
  const best = trials.find(({ trial }) => trial.to_its_end)!;
  const spent = trials.reduce((sum, { trial }) => sum + trial.device_seconds, 0);
  return {
    ...{ metric: "eval/mlm_loss", goal: "min", min_steps: minSteps, max_steps: maxSteps, reduction },
    rungs: rungSteps.map((step, index) => ({
      rung: index + 1,
      step,
      told: trials.filter(({ trial }) => trial.rung > index).length,
      went_on: trials.filter(
        ({ trial }) => trial.rung > index + 1 || (trial.rung === index + 1 && trial.state === "running"),
      ).length,
    })),
    best: {
      job: best.job.id,
      parameters: { "training.optimizer.lr": Number(best.job.labels["lr"]) } as unknown as Record<
        string,
        never
      >,
      step: best.trial.latest!.step,
      value: best.trial.latest!.value!,
    },
    device_seconds: spent,
    full_device_seconds: 0.11 * maxSteps * trials.length,
  };
}

import { describe, expect, it } from "vitest";
import type { Asha, Trial } from "../src/api/types";
import {
  bestText,
  isDecided,
  reportAt,
  ruleText,
  rungRows,
  spentText,
  standing,
  trialColumns,
  trialsOf,
  type TrialMember,
} from "../src/model/asha";
import type { Study } from "../src/api/types";

const asha = (changes: Partial<Asha> = {}): Asha => ({
  ...{ metric: "eval/loss", goal: "min", min_steps: 100, max_steps: 900, reduction: 3 },
  rungs: [
    { rung: 1, step: 100, told: 4, went_on: 2 },
    { rung: 2, step: 300, told: 2, went_on: 1 },
  ],
  best: { job: 2, parameters: {}, step: 640, value: 0.25 },
  ...{ device_seconds: 120, full_device_seconds: 1000 },
  ...changes,
});

const member = (
  job: number,
  trial: Partial<Trial>,
  parameters: Record<string, unknown> = {},
): TrialMember => ({
  ...{ job, name: `t${job}`, state: "running", devices: 1, kind: "gpu", parameters, seed: null, restarts: 0 },
  ...{ artificial: false, reason: "", time_to_train_seconds: null },
  trial: {
    ...{
      state: "running",
      rung: 0,
      to_its_end: false,
      reports: [],
      latest: null,
      steps: 0,
      device_seconds: 0,
    },
    ...trial,
  },
});

const trials = [
  member(1, { state: "stopped", rung: 1, latest: { step: 100, value: 0.2 } }),
  member(2, { rung: 2, to_its_end: true, latest: { step: 640, value: 0.25 } }),
  member(3, { state: "paused", rung: 2, latest: { step: 300, value: 0.5 } }),
  member(4, { state: "paused", rung: 1, latest: { step: 100, value: null } }),
  member(5, { state: "waiting" }),
];

it("a study's trials are those of its jobs that are judged", () => {
  const jobs = [...trials, { ...member(6, {}), trial: null }];
  expect(trialsOf({ members: jobs } as unknown as Study).map(({ job }) => job)).toEqual([1, 2, 3, 4, 5]);
});

it("says by what trials are judged, and what the best is", () => {
  expect(ruleText(asha())).toBe(
    "The lowest eval/loss wins. At each rung, one of 3 trials goes on. A trial that passes the last rung trains to step 900.",
  );
  expect(ruleText(asha({ goal: "max" }))).toMatch(/^The highest/);
  const best = (state: Study["state"], of = asha(), end: "succeeded" | "cancelled" = "succeeded") =>
    bestText({ state, members: [{ state: end }] } as Study, of);
  expect(best("running")).toBe("Best so far: job 2: 0.250 at step 640");
  expect(best("succeeded")).toMatch(/^Winner: job 2/);
  expect(best("failed", asha(), "cancelled")).toMatch(/^Best before it ended: job 2/);
  expect(best("running", asha({ best: null }))).toBe("Best so far: no trial has reported its metric");
  expect([isDecided({ state: "queued" }), isDecided({ state: "failed" })]).toEqual([false, true]);
});

it("says what it took, of what all would have taken", () => {
  expect(spentText(asha())).toBe("2m of about 16m 40s (12 %)");
  expect(spentText(asha({ full_device_seconds: null }))).toBe("2m");
});

it("counts at each rung who arrived, went on, is paused and was stopped", () => {
  expect(rungRows(asha(), trials)).toEqual([
    { rung: 1, step: 100, told: 4, wentOn: 2, paused: 1, stopped: 1 },
    { rung: 2, step: 300, told: 2, wentOn: 1, paused: 1, stopped: 0 },
  ]);
});

describe("trials stand", () => {
  const order = (of: Asha) =>
    [...trials].sort((a, b) => standing(b, of) - standing(a, of)).map(({ job }) => job);

  it("by how far they came, then by their newest value; what is not a number is worst", () => {
    expect(order(asha())).toEqual([2, 3, 1, 4, 5]);
  });

  it("the other way round where more is better", () => {
    const [low, high] = [0.1, 0.9].map((value, index) =>
      member(index, { rung: 1, latest: { step: 100, value } }),
    );
    expect(standing(low!, asha())).toBeGreaterThan(standing(high!, asha()));
    expect(standing(low!, asha({ goal: "max" }))).toBeLessThan(standing(high!, asha({ goal: "max" })));
  });
});

it("the table has a column a parameter and a rung, and tells apart what was not told and what is no number", () => {
  const told = member(1, { rung: 1, reports: [{ rung: 1, step: 104, value: null }] }, { "a.lr": 0.5 });
  const columns = trialColumns(asha(), [told]);
  expect(columns.map(({ title }) => title)).toEqual([
    ...["lr", "step 100", "step 300", "latest", "steps", "device time"],
  ]);
  expect(columns.slice(0, 4).map(({ text }) => text(told))).toEqual(["0.5", "NaN", "–", "–"]);
  expect([reportAt(told.trial, 1), reportAt(told.trial, 2)]).toEqual([null, undefined]);
});

import { describe, expect, it } from "vitest";
import { attemptMarks, groupCharts, targetLine } from "../src/model/charts";
import { attempt } from "./samples";

const target = {
  metric: "eval/gain_over_unigram",
  at_least: 0.4,
  latest: null,
  best: null,
  reached_ms: null,
  reached_step: null,
};
const keys = [
  "eval/mlm_loss",
  "eval/gain_over_unigram",
  "eval/mlm_accuracy",
  "train/loss",
  "train/loss_scale",
  "train/sequences_per_second",
  "train/tokens_per_second",
];

describe("groupCharts", () => {
  it("puts losses, the target, accuracies and throughputs first and gives every other key a chart", () => {
    const groups = groupCharts(keys, target).map(({ id, keys: own }) => [id, own]);
    expect(groups).toEqual([
      ["loss", ["train/loss", "eval/mlm_loss"]],
      ["target", ["eval/gain_over_unigram"]],
      ["accuracy", ["eval/mlm_accuracy"]],
      ["throughput", ["train/sequences_per_second", "train/tokens_per_second"]],
      ["train/loss_scale", ["train/loss_scale"]],
    ]);
  });

  it("shows every key exactly once", () => {
    expect(
      groupCharts(keys, target)
        .flatMap((group) => group.keys)
        .sort(),
    ).toEqual([...keys].sort());
  });

  it("keeps tokens a second off only where sequences a second are there to show", () => {
    const hidden = (some: string[]) => groupCharts(some, null)[0]!.hiddenAtFirst;
    expect(hidden(["train/sequences_per_second", "train/tokens_per_second"])).toEqual([
      "train/tokens_per_second",
    ]);
    expect(hidden(["train/tokens_per_second"])).toEqual([]);
  });
});

it("draws the target where its metric is", () => {
  const [loss, own] = groupCharts(keys, target);
  expect(targetLine(loss!, target)).toBeNull();
  expect(targetLine(own!, target)).toBe(0.4);
});

it("marks every attempt but the first, by step or by time", () => {
  const attempts = [attempt(), attempt({ number: 2, first_step: 100, started_ms: 1_031_000 })];
  expect(attemptMarks(attempts, "step", 1_001_000)).toEqual([{ x: 100, label: "attempt 2" }]);
  expect(attemptMarks(attempts, "time", 1_001_000)).toEqual([{ x: 30, label: "attempt 2" }]);
});

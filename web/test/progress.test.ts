import { describe, expect, it } from "vitest";
import { describeTarget, elapsedSeconds, secondsToLastStep, targetFraction } from "../src/model/progress";
import { attempt, job } from "./samples";

const target = {
  metric: "eval/gain",
  at_least: 0.4,
  latest: 0.2,
  best: 0.2,
  reached_ms: null,
  reached_step: null,
};
it("elapsed time stands still while a job waits", () => {
  const [before, later] = [1_011_000, 9_999_000];
  expect(elapsedSeconds(job(), before)).toBe(10);
  expect(elapsedSeconds(job({ ran_seconds: 30 }), before)).toBe(40);
  const waiting = job({ state: "queued", ran_seconds: 5, running_since_ms: null });
  expect(elapsedSeconds(waiting, later)).toBe(5);
  expect(elapsedSeconds(job({ started_ms: null, running_since_ms: null }), 1)).toBeNull();
});

describe("secondsToLastStep", () => {
  it("goes by the pace of this attempt alone", () => {
    expect(secondsToLastStep(job(), attempt())).toBe(940);
    expect(secondsToLastStep(job(), attempt({ first_step: 60 }))).toBe(1880);
  });

  it("says nothing before the first step and when nothing runs", () => {
    expect(secondsToLastStep(job(), attempt({ first_step: 120 }))).toBeNull();
    expect(secondsToLastStep(job({ state: "stopping" }), attempt())).toBeNull();
  });

  it("says nothing where nobody has told how many steps there will be", () => {
    const progress = { step: 120, steps: 0, updated_ms: 1_061_000 };
    expect(secondsToLastStep(job({ progress }), attempt())).toBeNull();
  });
});

it("a target that is an upper bound is told as one", () => {
  const { at_least: _, ...others } = target;
  expect(describeTarget({ ...others, at_most: 1 })).toBe("Target ≤ 1");
});

it("measures the way to the target from the first value", () => {
  expect(targetFraction(target, 0)).toBe(0.5);
  expect(targetFraction(target, -0.2)).toBeCloseTo(2 / 3, 12);
  expect(targetFraction({ ...target, reached_ms: 5 }, null)).toBe(1);
  expect(targetFraction({ ...target, best: null, latest: null }, 0)).toBeNull();
});

import { describe, expect, it } from "vitest";
import {
  describeTarget,
  elapsedSeconds,
  secondsToLastStep,
  secondsToTarget,
  targetFraction,
} from "../src/model/progress";
import { attempt, job } from "./samples";

const target = {
  metric: "eval/gain",
  at_least: 0.4,
  latest: 0.2,
  best: 0.2,
  reached_ms: null,
  reached_step: null,
};
const points = (values: number[]) =>
  values.map((value, index) => ({ step: index, timeMs: index * 1000, value }));

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
});

describe("secondsToTarget", () => {
  it("extends the slope of the last evaluations", () => {
    expect(secondsToTarget(target, points([0, 0.05, 0.1, 0.15]), 3000)).toBeCloseTo(5, 6);
  });

  it("says nothing with too few points, away from the target, or past the estimate", () => {
    expect(secondsToTarget(target, points([0, 0.1]), 1000)).toBeNull();
    expect(secondsToTarget(target, points([0.3, 0.2, 0.1]), 2000)).toBeNull();
    expect(secondsToTarget(target, points([0, 0.1, 0.2]), 60_000)).toBeNull();
  });

  it("goes downwards for a target that is an upper bound", () => {
    const { at_least: _, ...others } = target;
    const below = { ...others, at_most: 1 };
    expect(secondsToTarget(below, points([4, 3.5, 3]), 2000)).toBeCloseTo(4, 6);
    expect(describeTarget(below)).toBe("Target ≤ 1 · eval/gain");
  });
});

it("measures the way to the target from the first value", () => {
  expect(targetFraction(target, 0)).toBe(0.5);
  expect(targetFraction(target, -0.2)).toBeCloseTo(2 / 3, 12);
  expect(targetFraction({ ...target, reached_ms: 5 }, null)).toBe(1);
  expect(targetFraction({ ...target, best: null, latest: null }, 0)).toBeNull();
});

import { describe, expect, it } from "vitest";
import type { Projection } from "../src/api/types";
import { isProjected } from "../src/model/progress";
import { endWithFan, fanOf, projectionSentence } from "../src/model/projection";
import { job } from "./samples";

const minute = 60_000;

const projection = (changes: Partial<Projection> = {}): Projection => ({
  job: 12,
  metric: "eval/gain",
  step: { p10: 900, p50: 1000, p90: 1200 },
  time_ms: { p10: 9 * minute, p50: 12 * minute, p90: 18 * minute },
  reaches: 0.96,
  ends_ms: 30 * minute,
  fan: [
    [900, 1, 2, 3],
    [1200, 1.5, 3, "Infinity"],
  ],
  doubt: "",
  ...changes,
});

describe("the sentence", () => {
  it("tells the half, eight of ten, and the odds", () => {
    expect(projectionSentence(projection(), 2 * minute)).toBe(
      "The job should reach its target in 10m, at step 1,000; 8 of 10 times between 7m and 16m. " +
        "The odds that it does so before its training ends in 28m are 96 %.",
    );
  });

  it("says so when it may be any moment", () => {
    expect(projectionSentence(projection(), 12 * minute)).toContain(
      "target any moment, at step 1,000; 8 of 10 times between now and 6m",
    );
  });

  it("says that the late ones may not reach it", () => {
    const of = projection({
      reaches: 0.7,
      step: { p10: 900, p50: 1000, p90: null },
      time_ms: { p10: 9 * minute, p50: 12 * minute, p90: null },
    });
    expect(projectionSentence(of, 2 * minute)).toContain("8 of 10 times from 7m on, or not at all. ");
  });

  it("says that it will probably not reach it, with the odds", () => {
    const none = { p10: null, p50: null, p90: null };
    const of = projection({ step: none, time_ms: none, reaches: 0.08, ends_ms: null });
    expect(projectionSentence(of, 0)).toBe(
      "The job will probably not reach its target before its training ends: the odds are 8 %.",
    );
    expect(projectionSentence({ ...of, reaches: 0 }, 0)).toContain("the odds are 0 %");
  });

  it("says that it cannot say, and why; nothing without a target", () => {
    const doubt = "its curve has 3 points; 6 are needed";
    expect(projectionSentence(projection({ doubt }), 0)).toBe(
      `It is not known yet when the job reaches its target: ${doubt}.`,
    );
    expect(projectionSentence(projection({ metric: null, doubt: "it has no target" }), 0)).toBe("");
  });
});

describe("the fan", () => {
  const points = [
    { step: 400, timeMs: 10_000, value: 0.5 },
    { step: 800, timeMs: 20_000, value: 1 },
  ];
  const place = { startMs: 0, steps: 1200 };

  it("goes on from the last point", () => {
    expect(fanOf(projection(), points, { axis: "step", ...place })).toEqual({
      xs: [800, 900, 1200],
      p10: [1, 1, 1.5],
      p50: [1, 2, 3],
      p90: [1, 3, Infinity],
    });
  });

  it("stands on the wall clock at the pace that ends the training when it is foretold to", () => {
    const fan = fanOf(projection({ ends_ms: 60_000 }), points, { axis: "time", ...place })!;
    expect(fan.xs).toEqual([20, 30, 60]);
    expect(fanOf(projection({ ends_ms: null }), points, { axis: "time", ...place })).toBeNull();
  });

  it("is nothing without points, or without anything foretold", () => {
    expect(fanOf(projection(), [], { axis: "step", ...place })).toBeNull();
    expect(fanOf(projection({ fan: [] }), points, { axis: "step", ...place })).toBeNull();
  });

  it("leaves what was measured two fifths of the chart", () => {
    const fan = { xs: [800, 10_000], p10: [], p50: [], p90: [] };
    expect(endWithFan(fan, { min: 0, max: 800 })).toBe(2000);
    expect(endWithFan({ ...fan, xs: [800, 1200] }, { min: 0, max: 800 })).toBe(1200);
  });
});

it("is of running jobs that have yet to reach their target", () => {
  const target = {
    ...{ metric: "eval/gain", at_least: 1, latest: null, best: null, reached_ms: null, reached_step: null },
  };
  expect(isProjected(job({ target }))).toBe(true);
  expect(isProjected(job({ target, state: "queued" }))).toBe(false);
  expect(isProjected(job({ target: { ...target, reached_ms: 5 } }))).toBe(false);
  expect(isProjected(job())).toBe(false);
});

import { describe, expect, it } from "vitest";
import {
  align,
  byStep,
  countNotFinite,
  readSeries,
  smoothed,
  valueAt,
  withLivePoints,
} from "../src/model/series";

const point = (step: number, timeMs: number, value: number) => ({ step, timeMs, value });

describe("withLivePoints", () => {
  const fetched = readSeries([
    {
      key: "train/loss",
      points: [
        [10, 1000, 5],
        [20, 2000, 4],
      ],
    },
  ]);

  it("adds what is new and skips what the fetch had brought", () => {
    const live = [20, 30].map((step) => ({ key: "train/loss", step, time_ms: step * 100, value: 3 }));
    expect(withLivePoints(fetched, live).get("train/loss")).toEqual([
      point(10, 1000, 5),
      point(20, 2000, 4),
      point(30, 3000, 3),
    ]);
  });

  it("takes a step again when a restarted attempt repeats it later", () => {
    const series = withLivePoints(fetched, [{ key: "train/loss", step: 20, time_ms: 9000, value: 4 }]);
    expect(series.get("train/loss")).toHaveLength(3);
  });

  it("starts a series it has not seen, and is the same object when nothing is new", () => {
    expect([
      ...withLivePoints(fetched, [{ key: "eval/x", step: 1, time_ms: 1, value: "NaN" }]).keys(),
    ]).toEqual(["train/loss", "eval/x"]);
    expect(withLivePoints(fetched, [{ key: "train/loss", step: 20, time_ms: 2000, value: 4 }])).toBe(fetched);
  });
});

it("by step, what was done again replaces what came before it", () => {
  const points = [point(10, 1, 5), point(20, 2, 4), point(30, 3, 3), point(20, 9, 4.5), point(30, 10, 3.5)];
  expect(byStep(points).map(({ step, value }) => [step, value])).toEqual([
    [10, 5],
    [20, 4.5],
    [30, 3.5],
  ]);
});

describe("align", () => {
  const train = [point(10, 1000, 5), point(20, 3000, NaN), point(30, 5000, 3)];
  const evaluation = [point(20, 3500, 4)];

  it("lines series up by step; gaps and values that are not finite are null", () => {
    expect(align([train, evaluation], "step", 0)).toEqual({
      xs: [10, 20, 30],
      rows: [
        [5, null, 3],
        [null, 4, null],
      ],
    });
  });

  it("lines series up by seconds since the start", () => {
    expect(align([train, evaluation], "time", 1000).xs).toEqual([0, 2, 2.5, 4]);
  });
});

describe("smoothed", () => {
  it("starts at the first value and leaves a constant alone", () => {
    const values = smoothed(
      [1, 2, 3].map((step) => point(step, step, 7)),
      0.9,
    ).map(({ value }) => value);
    values.forEach((value) => expect(value).toBeCloseTo(7, 12));
  });

  it("passes over values that are not finite", () => {
    const [first, second, third] = smoothed([point(1, 1, 2), point(2, 2, Infinity), point(3, 3, 4)], 0.5);
    expect(first!.value).toBe(2);
    expect(second!.value).toBe(Infinity);
    expect(third!.value).toBeCloseTo(10 / 3, 12);
  });
});

it("counts what a chart cannot show", () => {
  expect(countNotFinite([point(1, 1, NaN), point(2, 2, 1), point(3, 3, -Infinity)])).toBe(2);
});

it("the crosshair reads the last value at or before it", () => {
  expect(valueAt([1, null, null, 2], 2)).toBe(1);
  expect(valueAt([1, null, 2, null], null)).toBe(2);
  expect(valueAt([null, 1], 0)).toBeNull();
});

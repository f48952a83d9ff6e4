import { describe, expect, it } from "vitest";
import { byStep, countNotFinite, readSeries, smoothed, thinned, withLivePoints } from "../src/model/series";

const point = (step: number, timeMs: number, value: number) => ({ step, timeMs, value });

describe("withLivePoints", () => {
  const fetched = readSeries([
    {
      key: "train/loss",
      lost_points: 0,
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

describe("points of several attempts", () => {
  const steps = (points: readonly { step: number }[]) => points.map(({ step }) => step);
  const read = (...points: [number, number, number][]) => readSeries([{ key: "x", points, lost_points: 0 }]);

  it("of a node whose clock lags are kept, fetched or live", () => {
    const fetched = read([10, 5000, 5], [20, 6000, 4], [30, 1000, 3], [40, 2000, 2]);
    expect(steps(byStep(fetched.get("x")!))).toEqual([10, 20, 30, 40]);
    const live = [50, 60].map((step) => ({ key: "x", step, time_ms: step, value: 1 }));
    expect(steps(withLivePoints(fetched, live).get("x")!)).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it("that repeat steps replace what came before them, also when their clock lags", () => {
    const fetched = read([10, 5000, 5], [20, 6000, 4], [30, 7000, 3]);
    const live = [{ key: "x", step: 20, time_ms: 5500, value: 4.5 }];
    expect(steps(byStep(withLivePoints(fetched, live).get("x")!))).toEqual([10, 20]);
  });

  it("that were thinned away are not news when they come again", () => {
    const thin = read([10, 100, 5], [40, 400, 2]);
    const late = [{ key: "x", step: 20, time_ms: 200, value: 4 }];
    expect(withLivePoints(thin, late)).toBe(thin);
  });
});

it("thinning keeps the ends, the extremes and what is not finite", () => {
  const values = Array.from({ length: 3000 }, (_, index) => (index === 1234 ? 99 : index === 2000 ? NaN : 1));
  const kept = thinned(
    values.map((value, index) => point(index, index, value)),
    300,
  );
  expect(kept.length).toBeLessThanOrEqual(330);
  expect(kept.map(({ step }) => step)).toEqual(expect.arrayContaining([0, 1234, 2000, 2999]));
});

it("by step, what was done again replaces what came before it", () => {
  const points = [point(10, 1, 5), point(20, 2, 4), point(30, 3, 3), point(20, 9, 4.5), point(30, 10, 3.5)];
  expect(byStep(points).map(({ step, value }) => [step, value])).toEqual([
    [10, 5],
    [20, 4.5],
    [30, 3.5],
  ]);
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

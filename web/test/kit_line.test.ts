import { describe, expect, it } from "vitest";
import { align, allPositive, extentOf, stacked, valueAt, type Line } from "../src/charts/line";

const line = (xs: number[], ys: number[], more: Partial<Line> = {}): Line => ({
  id: "a",
  label: "a",
  colour: "--series-0",
  style: { kind: "line" },
  xs,
  ys,
  ...more,
});

describe("align", () => {
  it("lines with xs of their own stand on one axis; gaps and values that are not finite are null", () => {
    expect(align([line([10, 20, 30], [5, NaN, 3]), line([20, 25], [4, 6])])).toEqual({
      xs: [10, 20, 25, 30],
      rows: [
        [5, null, null, 3],
        [null, 4, 6, null],
      ],
    });
  });

  it("a place that is not known is nowhere", () => {
    expect(align([line([1, NaN, 2], [1, 7, 2])])).toEqual({ xs: [1, 2], rows: [[1, 2]] });
  });

  it("a band takes two rows: its upper edge, then its lower", () => {
    expect(align([line([1, 2], [5, 6], { lows: [3, 4] })]).rows).toEqual([
      [5, 6],
      [3, 4],
    ]);
  });
});

it("areas stand on each other", () => {
  const [below, above] = stacked([line([1, 2], [1, 2]), line([1, 2], [10, NaN])]);
  expect([below!.lows, below!.ys]).toEqual([
    [0, 0],
    [1, 2],
  ]);
  expect([above!.lows, above!.ys]).toEqual([
    [1, 2],
    [11, 2],
  ]);
});

it("a single point has room on both sides", () => {
  expect(extentOf([7])).toEqual({ min: 6.5, max: 7.5 });
  expect(extentOf([7, 9])).toEqual({ min: 7, max: 9 });
});

it("a value of zero keeps an axis linear; one that is missing does not", () => {
  expect(allPositive([line([1, 2], [1, NaN])])).toBe(true);
  expect(allPositive([line([1, 2], [1, 0])])).toBe(false);
});

it("the crosshair reads the last value at or before it", () => {
  expect(valueAt([1, null, null, 2], 2)).toBe(1);
  expect(valueAt([1, null, 2, null], null)).toBe(2);
  expect(valueAt([null, 1], 0)).toBeNull();
});

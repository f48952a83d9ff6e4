import { describe, expect, it } from "vitest";
import { linearRange, logarithmicRange, logarithmicTicks, tickLabel } from "../src/charts/ticks";

const plain = { title: "step", numbers: "plain" } as const;
const duration = { title: "time", numbers: "duration" } as const;

describe("a logarithmic axis", () => {
  it("has ticks within less than a decade", () => {
    expect(logarithmicTicks(4, 8, 6).length).toBeGreaterThanOrEqual(3);
    expect(logarithmicTicks(2.2, 2.4, 6)).toEqual([2.2, 2.25, 2.3, 2.35, 2.4]);
  });

  it("has 1, 2 and 5 of some decades, and powers of ten alone of many", () => {
    expect(logarithmicTicks(0.9, 60, 8)).toEqual([1, 2, 5, 10, 20, 50]);
    expect(logarithmicTicks(1e-6, 1, 8)).toEqual([1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]);
    expect(logarithmicTicks(1e-12, 1, 5).length).toBeLessThanOrEqual(5);
  });

  it("follows its values instead of whole decades", () => {
    const { min, max } = logarithmicRange(4, 8);
    expect(min).toBeGreaterThan(3);
    expect(max).toBeLessThan(9);
  });
});

it("a linear axis has room around its values and stands on zero where they come near it", () => {
  expect(linearRange(0.01, 1).min).toBe(0);
  expect(linearRange(5, 6).min).toBeCloseTo(4.94);
  expect(linearRange(3, 3)).toEqual({ min: 2.82, max: 3.18 });
});

it("labels are short", () => {
  expect(tickLabel(plain, 125_000)).toBe("125k");
  expect(tickLabel(plain, 2_500_000)).toBe("2.5M");
  expect(tickLabel(plain, -20_000)).toBe("−20k");
  expect(tickLabel(plain, 0.00001)).toBe("1e−5");
  expect(tickLabel(duration, 0)).toBe("0s");
  expect(tickLabel(duration, 3600)).toBe("1h");
});

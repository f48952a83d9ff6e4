import { expect, it } from "vitest";
import { describeLayout, describeSizes, layoutOf } from "../src/model/layout";

it("tells how devices share a model", () => {
  const layout = layoutOf({ parallel: { tensor: 8, pipeline: 2 } }, 512);
  expect(layout).toEqual({ tensor: 8, pipeline: 2, data: 32 });
  expect(describeLayout(layout)).toBe("tensor 8 × pipeline 2 × data 32");
});

it("says nothing where there is nothing to say", () => {
  expect(describeLayout(layoutOf({ parallel: { tensor: 1, pipeline: 1 } }, 4))).toBe("");
  for (const spec of [
    null,
    undefined,
    "x",
    {},
    { command: ["a"] },
    { parallel: { tensor: 3, pipeline: 1 } },
  ]) {
    expect(layoutOf(spec, 4)).toBeNull();
  }
});

it("an elastic job tells its range beside its size", () => {
  expect(describeSizes({ devices: 8 })).toBe("8");
  expect(describeSizes({ devices: 8, sizes: [] })).toBe("8");
  expect(describeSizes({ devices: 8, sizes: [4, 8, 16] })).toBe("8 (4–16)");
});

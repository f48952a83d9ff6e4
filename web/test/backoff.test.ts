import { expect, it } from "vitest";
import { backoffMs } from "../src/api/backoff";

it("doubles from one second and stays at fifteen", () => {
  expect([1, 2, 3, 4, 5, 50].map((failures) => backoffMs(failures, 0.5))).toEqual([
    1000, 2000, 4000, 8000, 15_000, 15_000,
  ]);
});

it("is spread by a quarter", () => {
  expect([backoffMs(1, 0), backoffMs(1, 1)]).toEqual([875, 1125]);
});

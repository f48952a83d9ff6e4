import { expect, it } from "vitest";
import { withPoints } from "../src/model/job_update";
import { job } from "./samples";

it("brings the latest values, the step and the target's value up to date", () => {
  const target = { metric: "eval/gain", at_least: 0.4, latest: 0.1, reached_ms: null, reached_step: null };
  const updated = withPoints(job({ target }), [
    { key: "train/loss", step: 130, time_ms: 9, value: 4.9 },
    { key: "eval/gain", step: 130, time_ms: 9, value: 0.2 },
  ]);
  expect(updated.latest).toEqual({ "train/loss": 4.9, "eval/gain": 0.2 });
  expect(updated.progress).toEqual({ step: 130, steps: 2000, updated_ms: 9 });
  expect(updated.target?.latest).toBe(0.2);
});

it("never takes the step back: a late point is not a restart", () => {
  const updated = withPoints(job(), [{ key: "train/loss", step: 110, time_ms: 9, value: 5 }]);
  expect(updated.progress?.step).toBe(120);
});

import { expect, it } from "vitest";
import { withLive, withPoints } from "../src/model/job_update";
import { attempt, job } from "./samples";

it("brings the latest values, the step and the target's value up to date", () => {
  const target = {
    metric: "eval/gain",
    at_least: 0.4,
    latest: 0.1,
    best: 0.1,
    reached_ms: null,
    reached_step: null,
  };
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

it("counts the steps of a program that does not tell how many it takes", () => {
  const progress = { step: 3, steps: 0, updated_ms: 1 };
  const updated = withPoints(job({ progress }), [{ key: "loss", step: 9, time_ms: 9, value: "NaN" }]);
  expect(updated.progress?.step).toBe(9);
  expect(updated.latest["loss"]).toBe("NaN");
});

it("a detail shows what is newer in the list, and how far its attempt has come", () => {
  const detail = {
    ...job(),
    attempts: [attempt({ last_step: 10 })],
    checkpoint: null,
    spec: {},
    source: null,
    text: null,
    origin: null,
    best_checkpoint: null,
  };
  const shown = withLive(
    detail,
    job({ name: "renamed", progress: { step: 500, steps: 2000, updated_ms: 9 } }),
  );
  expect(shown.name).toBe("renamed");
  expect(shown.attempts[0]!.last_step).toBe(500);
});

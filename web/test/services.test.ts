import { expect, it } from "vitest";
import type { Service } from "../src/api/types";
import { remarkOn, replicaState, sortedReplicas, type Replica } from "../src/model/services";

const replica = (job: number, more: Partial<Replica> = {}): Replica => ({
  ...{ job, experiment: 2, attempt: 1, node: "node-1", state: "running", paused: false, ready: true },
  ...{ ready_since_ms: 0, queue_ms: 3, requests_per_second: 8, in_flight: 1, reason: "" },
  ...more,
});
const service = (more: Partial<Service> = {}): Service => ({
  ...{ name: "answers", url: null, experiment: 2, min: 1, max: 3, queue_limit_ms: 20, active: 1, ready: 1 },
  ...{ in_flight: 1, requests_per_second: 8, queue_ms: 3, failure: null, replicas: [replica(4)] },
  roll: { state: "none", from: [], reason: "" },
  ...more,
});
const failure = { job: 4, experiment: 2, reason: "no such model", at_ms: 0 };

it("says nothing of a service that answers", () => {
  expect(remarkOn(service())).toBeNull();
});

it("says how far a new spec is", () => {
  const roll = { state: "rolling" as const, from: [1], reason: "job 4 is not ready yet" };
  expect(remarkOn(service({ roll }))).toEqual({
    text: "Experiment 2 takes the place of experiment 1: job 4 is not ready yet",
    bad: false,
  });
  expect(remarkOn(service({ roll: { ...roll, reason: "" } }))?.text).toMatch(/experiment 1$/);
});

it("says why a new spec was halted, rather than what failed then", () => {
  const roll = { state: "halted" as const, from: [1, 2], reason: "job 4 failed" };
  expect(remarkOn(service({ roll, failure }))).toEqual({
    text: "Halted, experiment 1, experiment 2 serves on: job 4 failed",
    bad: true,
  });
});

it("says what failed, and that nothing answers", () => {
  expect(remarkOn(service({ failure }))).toEqual({ text: "Job 4 failed: no such model", bad: true });
  expect(remarkOn(service({ ready: 0 }))).toEqual({ text: "No replica is ready", bad: true });
});

it("names the state of a replica", () => {
  const states = [
    replica(1),
    replica(2, { ready: false }),
    replica(3, { ready: false, paused: true, state: "queued" }),
    replica(4, { ready: false, paused: true, state: "stopping" }),
    replica(5, { ready: false, state: "queued" }),
  ].map(replicaState);
  expect(states).toEqual(["ready", "not ready", "paused", "stopping", "queued"]);
});

it("shows the replicas that answer first", () => {
  const sorted = sortedReplicas([
    replica(1, { ready: false, paused: true }),
    replica(2, { ready: false }),
    replica(9),
    replica(3),
  ]);
  expect(sorted.map(({ job }) => job)).toEqual([3, 9, 2, 1]);
});

import { expect, it } from "vitest";
import type { JobState } from "../src/api/types";
import { fieldTime, labelChanges, readWindow } from "../src/model/node_changes";
import { offerFor, readPriority } from "../src/model/operations";
import { job } from "./samples";

const offered = (state: JobState, changes = {}) => {
  const { requeue, ...rest } = offerFor(job({ state, ...changes }));
  const names = Object.entries(rest).flatMap(([name, is]) => (is ? [name] : []));
  return [...names, ...(requeue ? [requeue] : [])];
};

it("offers what fits a job's state", () => {
  expect(offered("queued", { attempt: 0 })).toEqual(["hold", "priority", "cancel"]);
  expect(offered("queued", { attempt: 0, held: true })).toEqual(["release", "priority", "cancel"]);
  expect(offered("queued", { attempt: 2 })).toEqual(["hold", "priority", "cancel", "retry"]);
  expect(offered("running")).toEqual(["hold", "priority", "cancel", "stop"]);
  expect(offered("running", { held: true })).toEqual(["release", "priority", "cancel", "stop"]);
  expect(offered("stopping")).toEqual(["hold", "cancel"]);
  for (const over of ["failed", "cancelled", "stopped"] as const) expect(offered(over)).toEqual(["again"]);
  expect(offered("succeeded")).toEqual([]);
});

it("reads priorities", () => {
  expect(readPriority("0")).toBe(0);
  expect(readPriority("100")).toBe(100);
  for (const bad of ["", " ", "101", "-1", "1.5", "high"]) expect(readPriority(bad)).toMatch(/whole number/);
});

it("reads maintenance windows as local times", () => {
  const at = new Date("2026-03-01T20:00").getTime();
  expect(readWindow(" fans ", "", "", at)).toEqual({ reason: "fans", from_ms: null, until_ms: null });
  expect(readWindow("", "2026-03-01T20:00", "2026-03-01T23:00", at)).toEqual({
    reason: "",
    from_ms: at,
    until_ms: at + 3 * 3_600_000,
  });
  expect(readWindow("", "2026-03-01T23:00", "2026-03-01T22:00", at)).toMatch(/end after it begins/);
  expect(readWindow("", "", "2026-03-01T19:00", at)).toMatch(/has ended already/);
  expect(fieldTime(at)).toBe("2026-03-01T20:00");
  expect(fieldTime(null)).toBe("");
});

it("sends only the labels that change", () => {
  const before = { rack: "r1", partition: "nlp" };
  const rows = (...pairs: [string, string][]) => labelChanges(before, pairs);
  expect(rows(["rack", "r1"], ["partition", "nlp"], ["", ""])).toEqual({});
  expect(rows(["rack", "r2"], ["spine", "s1"])).toEqual({ rack: "r2", spine: "s1", partition: null });
  expect(rows(["rack", "r1"], ["rack", "r2"])).toMatch(/twice/);
  expect(rows(["rack", ""])).toMatch(/letters, digits/);
  expect(rows(["a b", "c"])).toMatch(/letters, digits/);
});

it("offers of a tracked run nothing but to mark it cancelled while it goes on", () => {
  for (const state of ["queued", "running"] as const)
    expect(offered(state, { tracked: true })).toEqual(["cancel"]);
  for (const state of ["succeeded", "failed", "cancelled"] as const)
    expect(offered(state, { tracked: true, attempt: 1 })).toEqual([]);
});

import { expect, it } from "vitest";
import type { Queue } from "../src/api/types";
import { describePolicy } from "../src/model/queue";

const queue = (changes: Partial<Queue>): Queue => ({
  policy: "priority-backfill",
  ageing_seconds: 3600,
  walltime_weight: 1,
  walltime_points: 20,
  queues: [],
  apart: { total: 0, jobs: [] },
  ...changes,
});

it("the rule of the order is told as it is, with what bounds walltime", () => {
  expect(describePolicy(queue({}))).toBe(
    "the highest score first: the priority, a point more for 1h of waiting and a point less for 1h of walltime, 20 at most",
  );
  expect(describePolicy(queue({ walltime_weight: 0.5, ageing_seconds: 1800 }))).toContain("1h of walltime");
  expect(describePolicy(queue({ walltime_weight: 0 }))).toBe(
    "the highest score first: the priority, a point more for 1h of waiting",
  );
});

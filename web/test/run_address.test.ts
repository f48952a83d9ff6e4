import { expect, it } from "vitest";
import { jobOfRunPath } from "../src/model/run_address";

const run = "0123456789abcdef00000000000000ff";

it("leads from a run's address to its job", () => {
  expect(jobOfRunPath(["experiments", "7", "runs", run])).toBe(255);
  expect(jobOfRunPath(["experiments", "0", "runs", "ffffffffffffffff0000000000000001"])).toBe(1);
});

it("takes nothing else for a run's address", () => {
  for (const path of [
    [],
    ["experiments", "7"],
    ["experiments", "7", "runs"],
    ["experiments", "7", "runs", run, "model-metrics"],
    ["jobs", "7", "runs", run],
    ["experiments", "7", "jobs", run],
    ["experiments", "7", "runs", run.slice(1)],
    ["experiments", "7", "runs", run.toUpperCase()],
    ["experiments", "7", "runs", "0123456789abcdef0000000000000000"],
    ["experiments", "7", "runs", "0123456789abcdef7fffffffffffffff"],
  ])
    expect(jobOfRunPath(path)).toBeNull();
});

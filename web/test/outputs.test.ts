// What the page says of a job's outputs.
import { expect, it } from "vitest";
import type { JobOutputs } from "../src/api/types";
import { isComplete, namesOutputs, summaryOf } from "../src/model/outputs";

const list: JobOutputs = {
  job: 7,
  available: true,
  folder: "jobs/7/outputs/2",
  attempt: 2,
  attempts: [1, 2],
  ranks: [0],
  processes: 1,
  outputs: [{ rank: 0, path: "model.pt", bytes: 8 }],
  more: false,
};

it("says what there is and where", () => {
  expect(summaryOf(list)).toBe("Attempt 2: 1 file of 1 process, in jobs/7/outputs/2 of the shared folder.");
  expect(summaryOf({ ...list, ranks: [0, 1], processes: 3, outputs: [], more: true })).toBe(
    "Attempt 2: 0 files and more of 2 of 3 processes, in jobs/7/outputs/2 of the shared folder.",
  );
});

it("says why there is nothing", () => {
  expect(summaryOf({ ...list, ranks: [], outputs: [], attempt: null })).toContain("None yet");
  expect(summaryOf({ ...list, available: false })).toContain("start it with --shared");
});

it("is complete once every process has left its own", () => {
  expect(isComplete(list)).toBe(true);
  expect(isComplete({ ...list, processes: 2 })).toBe(false);
  expect(isComplete({ ...list, ranks: [], processes: 0 })).toBe(false);
  expect(isComplete({ ...list, available: false })).toBe(false);
});

it("is for jobs whose spec names outputs", () => {
  expect(namesOutputs({ outputs: ["*.pt"] })).toBe(true);
  for (const spec of [{ outputs: [] }, {}, null, { outputs: "*.pt" }]) expect(namesOutputs(spec)).toBe(false);
});

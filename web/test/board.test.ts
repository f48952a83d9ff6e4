import { describe, expect, it } from "vitest";
import type { BenchmarkDetails, BoardClass, BoardRecord, BoardRun, PublishedRow } from "../src/api/types";
import { recordFigure } from "../src/board/record_figure";
import { formatChange } from "../src/format/numbers";
import {
  commitText,
  fallText,
  fastest,
  recordRows,
  runsText,
  standingOf,
  stepPath,
} from "../src/model/board";

const record = (
  job: number,
  reached_ms: number,
  seconds: number,
  improvement: number | null,
): BoardRecord => ({
  ...{ job, reached_ms, seconds, improvement },
});

const h200: BoardClass = {
  ...{ device: "NVIDIA H200", devices: 8 },
  records: [record(1, 1000, 100, null), record(3, 3000, 80, 0.2), record(4, 4000, 60, 0.25)],
};
const slot: BoardClass = { device: "cpu slot", devices: 2, records: [record(9, 2000, 500, null)] };

const run = (changes: Partial<BoardRun>): BoardRun => ({
  ...{ job: 2, experiment: 2, name: "run", seconds: 90, started_ms: 0, reached_ms: 2000, devices: [8] },
  ...{ device_models: ["NVIDIA H200"], nodes: ["node-1"], versions: ["0.1.0"], restarts: 0, seed: null },
  ...{ source: null, file: "a.yaml", spec_sha256: "ab", reproduces: null, excluded: [] },
  ...changes,
});

it("changes are told with a sign of their own, the smaller the more exactly", () => {
  expect([formatChange(-0.18), formatChange(0.034), formatChange(1.5)]).toEqual([
    "−18 %",
    "+3.4 %",
    "+150 %",
  ]);
  expect(h200.records.map(fallText)).toEqual(["first", "−20 %", "−25 %"]);
});

it("a commit says where it was not clean, and nothing where there was none", () => {
  const commit = "3f9c1e7a5b2d4086c1e9f7a3b5d20846a1c3e5f7";
  expect(commitText({ commit })).toBe("3f9c1e7a5b");
  expect(commitText({ commit, dirty: true })).toBe("3f9c1e7a5b with changes");
  expect([commitText(null), commitText({})]).toEqual([null, null]);
});

it("of a benchmark the fastest class stands in the list", () => {
  expect(fastest([slot, h200])).toBe(h200);
  expect(fastest([])).toBeNull();
  expect(runsText({ runs: 1, excluded: 0 })).toBe("1 run");
  expect(runsText({ runs: 1200, excluded: 3 })).toBe("1,200 runs, 3 set no record");
});

it("records are listed class by class, the newest first, and only the newest holds", () => {
  expect(recordRows([slot, h200]).map(({ record: { job }, holds }) => [job, holds])).toEqual([
    [9, true],
    [4, true],
    [3, false],
    [1, false],
  ]);
});

describe("a run stands", () => {
  const standing = (changes: Partial<BoardRun>) => standingOf(run(changes), [slot, h200]);

  it("as the record, beside the one before", () => {
    expect(standing({ job: 4 })).toEqual({ kind: "holds", why: [], rival: 3 });
    expect(standing({ job: 9, devices: [2], device_models: ["cpu slot"] }).rival).toBeNull();
  });

  it("as a record that was broken", () => {
    expect(standing({ job: 1 })).toEqual({ kind: "held", why: ["job 3 was faster"], rival: 3 });
  });

  it("as slower than the record of its day, beside that of today", () => {
    expect(standing({ seconds: 105 })).toEqual({
      ...{ kind: "slower", why: ["slower than job 1, which took 1m 40s"], rival: 4 },
    });
    expect(standing({ seconds: 60, reached_ms: 5000 }).why).toEqual(["as fast as job 4, which came first"]);
  });

  it("as excluded, with each reason", () => {
    const excluded = ["it shared nodes with job 7", "it ran on devices that were made up"];
    expect(standing({ excluded })).toEqual({ kind: "excluded", why: excluded, rival: null });
  });
});

it("the small curve steps down at each record and goes on to now", () => {
  expect(stepPath(h200, 5000, [40, 20])).toBe("M0 0.0H20.0V10.0H30.0V20.0H40");
  expect(stepPath(slot, 4000, [40, 20])).toBe("M0 10.0H40");
  expect(stepPath({ records: [] }, 1, [1, 1])).toBeNull();
});

describe("the chart of records", () => {
  const board: BenchmarkDetails = {
    ...{ id: "b", name: "b", identity: {}, runs: 5, excluded: 1, classes: [slot, h200] },
    all: [run({ seconds: 105 }), run({ job: 5, excluded: ["it shared nodes with job 7"], seconds: 1 })],
  };
  const row = (changes: Partial<PublishedRow>): PublishedRow => ({
    ...{ benchmark: "x", what: "w", hardware: "V100", devices: 16, precision: null, batch: null },
    ...{ value: 2, unit: "h", runs: null, source: "s", url: null, date: "2019-08", note: null, file: "f" },
    ...changes,
  });

  it("has a step curve to today for each class, and the slower runs apart; none that may set no record", () => {
    const { lines, logarithmic } = recordFigure(board, [], 9000);
    expect(lines.map(({ id, style }) => [id, style.kind])).toEqual([
      ["slower", "scatter"],
      ["2 × cpu slot", "steps"],
      ["records 2 × cpu slot", "scatter"],
      ["8 × NVIDIA H200", "steps"],
      ["records 8 × NVIDIA H200", "scatter"],
    ]);
    expect(lines[0]!.ys).toEqual([105]);
    expect([lines[3]!.xs, lines[3]!.ys]).toEqual([
      [1000, 3000, 4000, 9000],
      [100, 80, 60, 60],
    ]);
    expect(lines[4]!.notes).toEqual(["", "−20 %", "−25 %"]);
    expect(logarithmic).toBe(true);
  });

  it("has published times as dashed lines, never among its own, and no rates", () => {
    const { lines, references } = recordFigure(board, [row({}), row({ unit: "sequences/s" })], 9000);
    expect(references.map(({ label, value }) => [label, value])).toEqual([
      ["published: 16 × V100, 2019", 7200],
    ]);
    expect(lines).toHaveLength(5);
  });
});

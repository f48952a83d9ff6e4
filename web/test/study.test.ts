import { describe, expect, it } from "vitest";
import type { PublishedRow, ScalingRow, ScalingTable, Study, StudyMember } from "../src/api/types";
import {
  idealTime,
  missingSizes,
  parametersText,
  publishedPlace,
  publishedSentence,
  publishedTags,
  publishedValue,
  rateUnit,
  studyMarks,
  timeSpread,
  sweptPaths,
} from "../src/model/study";
import { studyFigures } from "../src/study/figures";

const rate = (median: number) => ({ median, low: median * 0.9, high: median * 1.1, points: 90 });

const row = (devices: number, changes: Partial<ScalingRow> = {}): ScalingRow => ({
  devices,
  jobs: [devices],
  so_far: false,
  reached: 1,
  samples_per_second: rate(100 * devices),
  tokens_per_second: null,
  per_device: 100,
  speed_up: devices,
  efficiency: 1,
  model_flops_per_second: null,
  mfu: null,
  time_to_train_seconds: 8000 / devices,
  samples_to_target: 800_000,
  stepping_share: 1,
  evaluation_share: null,
  checkpoint_share: null,
  time_efficiency: null,
  ...changes,
});

const table = (rows: ScalingRow[], changes: Partial<ScalingTable> = {}): ScalingTable => ({
  parameters: {},
  base: rows[0]?.devices ?? null,
  sentence: "",
  slots_share_cores: false,
  rows,
  ...changes,
});

const member = (job: number, devices: number, changes: Partial<StudyMember> = {}): StudyMember => ({
  job,
  name: `job-${job}`,
  state: "succeeded",
  devices,
  kind: "gpu",
  parameters: {},
  seed: null,
  restarts: 0,
  artificial: false,
  reason: "",
  time_to_train_seconds: 8000 / devices,
  trial: null,
  ...changes,
});

const study = (members: StudyMember[], tables: ScalingTable[]): Study => ({
  id: 1,
  name: "s",
  kind: "scaling",
  state: "succeeded",
  states: {},
  created_ms: 0,
  scaling: { devices: [], mode: "strong", repeat: 1, together: false },
  sweep: null,
  asha: null,
  members,
  tables,
  warnings: [],
  published: [],
});

const published = (changes: Partial<PublishedRow>): PublishedRow => ({
  ...{ benchmark: "b", what: "w", hardware: "V100", devices: 16, precision: "fp16", batch: null },
  ...{ value: 1, unit: "h", runs: null, source: "s", url: null, date: "2019", note: null, file: "f" },
  ...changes,
});

describe("sizes without a row", () => {
  it("are told with the state that says most, once a size", () => {
    const members = [
      member(8, 8),
      member(16, 16, { state: "queued" }),
      member(17, 16, { state: "failed", reason: "out of memory" }),
      member(32, 32, { state: "queued" }),
    ];
    const of = study(members, [table([row(8)])]);
    expect(missingSizes(of, of.tables[0]!).map(({ devices, state }) => [devices, state])).toEqual([
      [16, "failed"],
      [32, "queued"],
    ]);
  });

  it("are those of the table's own swept values", () => {
    const lr = (value: number) => ({ "training.optimizer.lr": value });
    const members = [
      member(1, 8, { parameters: lr(1) }),
      member(2, 16, { parameters: lr(2), state: "failed" }),
    ];
    const tables = [table([row(8)], { parameters: lr(1) }), table([], { parameters: lr(2), base: null })];
    const of = study(members, tables);
    expect(missingSizes(of, tables[0]!)).toEqual([]);
    expect(missingSizes(of, tables[1]!)).toHaveLength(1);
  });
});

describe("the ideal time", () => {
  it("falls with the devices where the samples stay", () => {
    const ideal = idealTime(table([row(8), row(16)]))!;
    expect([8, 16, 64].map(ideal)).toEqual([1000, 500, 125]);
  });

  it("stays where the samples grow with the devices", () => {
    const ideal = idealTime(table([row(8), row(16, { samples_to_target: 1_600_000 })]))!;
    expect(ideal(64)).toBe(1000);
  });

  it("is not there without a base that has ended", () => {
    expect(idealTime(table([row(8, { time_to_train_seconds: null })]))).toBeNull();
    expect(idealTime(table([row(8)], { base: null }))).toBeNull();
  });
});

describe("published figures", () => {
  it("go to the chart of their unit, in its unit", () => {
    expect(publishedPlace(published({ value: 2, unit: "h" }), "samples")).toEqual({
      measure: "time",
      value: 7200,
    });
    expect(publishedPlace(published({ value: 236, unit: "min" }), "samples")?.value).toBe(14_160);
    expect(publishedPlace(published({ value: 77, unit: "% of linear" }), "samples")).toEqual({
      measure: "efficiency",
      value: 0.77,
    });
    expect(publishedPlace(published({ value: 5, unit: "sequences/s" }), "samples")?.measure).toBe("rate");
    expect(publishedPlace(published({ value: 5, unit: "sequences/s" }), "tokens")).toBeNull();
    expect(publishedPlace(published({ value: 5, unit: "tokens/s/device" }), "tokens")?.value).toBe(80);
    expect(publishedPlace(published({ value: 5, unit: "TFLOP/s/device" }), "samples")).toBeNull();
    expect(
      publishedPlace(published({ value: 2.2, unit: "ms" }), "samples"),
      "a latency is no time to train",
    ).toBeNull();
  });

  it("are told with what they were measured on", () => {
    expect(publishedTags(published({ batch: 65_536, runs: 5 }))).toEqual([
      "V100",
      "fp16",
      "batch 65,536",
      "5 runs",
      "2019",
    ]);
    expect(publishedValue(published({ value: 1.5 }))).toBe("1h 30m");
    expect(publishedValue(published({ value: 77, unit: "% of linear" }))).toBe("77 % of linear");
  });

  it("have a sentence: what compares best, of most devices", () => {
    const rows = [
      published({ devices: 64, value: 3 }),
      published({ devices: 8, value: 77, unit: "% of linear", hardware: "DGX-2H" }),
      published({ devices: 4, value: 82, unit: "% of linear" }),
    ];
    expect(publishedSentence(rows, "samples")).toBe("Published: 77 % of linear on 8 × DGX-2H, 2019");
    expect(publishedSentence([published({ unit: "ms" })], "samples")).toMatch(/^No published result/);
    expect(publishedSentence([], "samples")).toBe("");
  });
});

it("throughput is in samples where any are told", () => {
  const none = row(8, { samples_per_second: null, tokens_per_second: rate(7) });
  expect(rateUnit({ tables: [table([none])] })).toBe("tokens");
  expect(rateUnit({ tables: [table([none, row(16)])] })).toBe("samples");
});

it("swept values are told by the end of their paths", () => {
  expect(parametersText({ "training.optimizer.lr": 0.001, "parameters.mode": "x" })).toBe("lr 0.001, mode x");
});

it("repeats have a spread, one run has none", () => {
  const members = [member(1, 8, { time_to_train_seconds: 90 }), member(2, 8, { time_to_train_seconds: 110 })];
  const of = study(members, []);
  expect(timeSpread(of, row(8, { jobs: [1, 2] }))).toEqual({ low: 90, high: 110 });
  expect(timeSpread(of, row(8, { jobs: [1] }))).toBeNull();
});

it("slots and artificial devices are said", () => {
  const of = study(
    [member(1, 1, { artificial: true }), member(2, 2)],
    [table([], { slots_share_cores: true })],
  );
  expect(studyMarks(of)).toEqual([
    expect.stringContaining("share cores"),
    expect.stringContaining("1 of its jobs ran on artificial devices"),
  ]);
});

describe("the charts", () => {
  const members = [
    member(8, 8),
    member(16, 16),
    member(32, 32, { state: "running" }),
    member(64, 64, { state: "queued" }),
  ];
  const rows = [
    row(8),
    row(16, { samples_per_second: rate(1200), per_device: 75, efficiency: 0.75 }),
    row(32, { so_far: true, time_to_train_seconds: null }),
  ];
  const of = study(members, [table(rows)]);
  const [time, throughput, efficiency] = studyFigures(
    of,
    [published({ devices: 1024, value: 67, unit: "min" }), published({ devices: 16 })],
    "samples",
  );
  const line = (figure: typeof time, id: string) =>
    figure!.figure.lines.find((each) => each.id.startsWith(id));

  it("are over devices to base 2, every size and published count on the axis", () => {
    expect(time!.figure.x).toMatchObject({
      base: 2,
      ticks: [8, 16, 32, 64, 1024].map((at) => ({ at })),
    });
    expect([time!.figure.logarithmic, throughput!.figure.logarithmic]).toEqual([true, true]);
  });

  it("never cut the axis of the efficiency", () => {
    expect(efficiency!.figure).toMatchObject({ logarithmic: false, y: { holds: { min: 0, max: 110 } } });
    expect(line(efficiency, "measured")).toMatchObject({
      xs: [8, 16],
      ys: [100, 75],
      notes: ["100 %", "75 %"],
    });
    expect(line(efficiency, "measured")!.errors).toEqual({
      lows: [90, 67.5],
      highs: [expect.closeTo(110), expect.closeTo(82.5)],
    });
    expect(line(efficiency, "ideal")!.ys).toEqual([100, 100, 100, 100]);
  });

  it("draw what is under way hollow and unjoined, and name sizes without a figure", () => {
    expect(line(throughput, "so far")).toMatchObject({
      xs: [32],
      style: { kind: "scatter", marker: "ring" },
    });
    expect(throughput!.figure.marks).toEqual([{ x: 64, label: "64: queued" }]);
  });

  it("draw what is published as diamonds, joined to nothing, in the charts of its unit alone", () => {
    const other = line(time, "published")!;
    expect(other).toMatchObject({
      xs: [16, 1024],
      ys: [3600, 4020],
      style: { kind: "scatter", marker: "diamond" },
    });
    expect(line(throughput, "published")).toBeUndefined();
    expect(line(time, "ideal")!.xs, "nothing is foretold of others' sizes").toEqual([8, 16, 32, 64]);
  });
});

it("the paths of a sweep are what it varies, not how it draws and judges trials", () => {
  const sweep = {
    "training.optimizer.lr": [1, 2],
    trials: 8,
    seed: 1,
    asha: {},
  } as unknown as Study["sweep"];
  expect(sweptPaths(sweep)).toEqual(["training.optimizer.lr"]);
  expect(sweptPaths(null)).toEqual([]);
});

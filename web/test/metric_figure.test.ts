import { describe, expect, it } from "vitest";
import { flipped, settingsFrom } from "../src/job/chart_settings";
import { extentOfAll, figureOf, linesOf, referencesOf } from "../src/job/metric_figure";
import { groupCharts } from "../src/model/charts";
import type { Point, SeriesMap } from "../src/model/series";

const points = (...values: number[]): Point[] =>
  values.map((value, index) => ({ step: 10 * (index + 1), timeMs: 1000 * (index + 1), value }));
const series: SeriesMap = new Map([
  ["train/loss", points(5, NaN, 3)],
  ["eval/mlm_loss", points(4, 3.5, 3.2)],
  ["eval/unigram_loss", points(5.62, 5.62, 5.62)],
]);
const [loss] = groupCharts([...series.keys()], null);
const bySteps = { axis: "step", startMs: 0 } as const;

describe("the curves of a job", () => {
  it("a metric that never changes is a value to compare with, no curve", () => {
    expect(linesOf(loss!, series, bySteps, 0).map(({ id }) => id)).toEqual(["train/loss", "eval/mlm_loss"]);
    expect(referencesOf(loss!, series, 3)).toEqual([
      { id: "eval/unigram_loss", label: "eval/unigram_loss", value: 5.62, colour: "--series-2" },
      { id: "target", label: "target", value: 3, colour: "--good" },
    ]);
  });

  it("alone in its chart it is a curve", () => {
    const rate: SeriesMap = new Map([["train/learning_rate", points(0.1, 0.1, 0.1)]]);
    const [group] = groupCharts([...rate.keys()], null);
    expect(linesOf(group!, rate, bySteps, 0)).toHaveLength(1);
    expect(referencesOf(group!, rate, null)).toEqual([]);
  });

  it("with smoothing, what was measured stays behind, and evaluations as they are", () => {
    const lines = linesOf(loss!, series, bySteps, 0.9);
    expect(lines.map(({ id, of }) => [id, of])).toEqual([
      ["train/loss as measured", "train/loss"],
      ["train/loss", undefined],
      ["eval/mlm_loss", undefined],
    ]);
    expect(lines[2]!.ys).toEqual([4, 3.5, 3.2]);
  });

  it("by wall-clock, x is seconds since the start", () => {
    const [line] = linesOf(loss!, series, { axis: "time", startMs: 1000 }, 0);
    expect(line!.xs).toEqual([0, 1, 2]);
  });

  it("axes have titles, and units where they are known", () => {
    const settings = settingsFrom(new URLSearchParams("x=time"), "step");
    const figure = figureOf(loss!, [], [], [], settings, { min: 0, max: 1 });
    expect(figure.x).toEqual({ title: "time since the start", numbers: "duration" });
    expect(figure.y).toEqual({ title: "loss", unit: "nats", numbers: "plain" });
    const [foreign] = groupCharts(["val/loss"], null);
    expect(foreign!.y).toEqual({ title: "loss", numbers: "plain" });
  });
});

it("charts of a job have one x from the first point of any metric to the last", () => {
  const late: SeriesMap = new Map([...series, ["eval/late", points(1, 2, 3, 4)]]);
  expect(extentOfAll(late, bySteps)).toEqual({ min: 10, max: 40 });
  expect(extentOfAll(new Map(), bySteps)).toEqual({ min: 0, max: 1 });
});

it("names with commas are switched on and off, too", () => {
  const once = flipped(new Set(), "eval/top,5~x");
  const read = settingsFrom(new URLSearchParams({ flip: once }), "step").flips;
  expect([...read]).toEqual(["eval/top,5~x"]);
  expect(flipped(read, "eval/top,5~x")).toBe("");
});

it("the address names the x axis, or leaves it as is usual for the job", () => {
  const axis = (x: string, usual: "step" | "time") => settingsFrom(new URLSearchParams(x), usual).axis;
  expect([axis("", "time"), axis("", "step")]).toEqual(["time", "step"]);
  expect([axis("x=step", "time"), axis("x=time", "step"), axis("x=other", "time")]).toEqual([
    "step",
    "time",
    "time",
  ]);
});

// The metrics of a job as figures for charts/: which curves, constants and targets a chart has.
import {
  colourAt,
  extentOf,
  type Axis,
  type Line,
  type Mark,
  type Range,
  type Reference,
} from "../charts/line";
import type { Figure } from "../charts/plot_options";
import type { MetricGroup } from "../model/charts";
import type { Fan } from "../model/projection";
import { byStep, smoothed, type Point, type SeriesMap, type XAxis } from "../model/series";

export interface Place {
  axis: XAxis;
  startMs: number;
}

export const xAxisOf = (axis: XAxis): Axis =>
  axis === "step"
    ? { title: "step", numbers: "plain" }
    : { title: "time since the start", numbers: "duration" };

const fewestOfConstant = 3;

/** A metric that never changes is a value to compare others with, not a curve. */
export const isConstant = (points: readonly Point[]) =>
  points.length >= fewestOfConstant && points.every(({ value }) => value === points[0]!.value);

/** With smoothing, the measured values stay behind the curve, faintly. */
export function linesOf(group: MetricGroup, series: SeriesMap, place: Place, smooth: number): Line[] {
  const curves = group.keys.flatMap((key, index) => {
    const points = series.get(key) ?? [];
    return isReference(group, points) ? [] : [{ key, points, colour: colourAt(index) }];
  });
  const drawn = curves.map(({ key, points, colour }) => {
    const evaluated = key.startsWith("eval/");
    // Evaluations are few and are averages already, so smoothing would only delay them.
    const values = smooth > 0 && !evaluated ? smoothed(points, smooth) : points;
    return lineOf(key, colour, values, place, { dots: evaluated });
  });
  if (smooth === 0) return drawn;
  const behind = curves
    .filter(({ key }) => !key.startsWith("eval/"))
    .map(({ key, points, colour }) => ({
      ...lineOf(`${key} as measured`, colour, points, place, { faint: true }),
      of: key,
    }));
  return [...behind, ...drawn];
}

function lineOf(
  key: string,
  colour: string,
  points: readonly Point[],
  { axis, startMs }: Place,
  style: { dots?: boolean; faint?: boolean },
): Line {
  const placed = axis === "step" ? byStep(points) : points;
  return {
    id: key,
    label: key,
    colour,
    style: { kind: "line", ...style },
    xs: placed.map(({ step, timeMs }) => (axis === "step" ? step : (timeMs - startMs) / 1000)),
    ys: placed.map(({ value }) => value),
  };
}

/** The forecast in the colour of its metric: a band from the 10th to the 90th percentile, and the median. */
export function fanLines({ xs, p10, p50, p90 }: Fan, place: number): Line[] {
  const whole = { colour: colourAt(Math.max(0, place)), xs };
  return [
    { ...whole, id: "projection", label: "projection, 8 of 10", style: { kind: "band" }, ys: p90, lows: p10 },
    {
      ...whole,
      id: "projection, half",
      label: "projection, half",
      style: { kind: "line", dashed: true },
      ys: p50,
      of: "projection",
    },
  ];
}

/** Alone in its chart, it is the subject of the chart. */
const isReference = (group: MetricGroup, points: readonly Point[]) =>
  group.keys.length > 1 && isConstant(points);

export function referencesOf(group: MetricGroup, series: SeriesMap, target: number | null): Reference[] {
  const constants = group.keys.flatMap((key, index) => {
    const points = series.get(key) ?? [];
    if (!isReference(group, points)) return [];
    return [{ id: key, label: key, value: points[0]!.value, colour: colourAt(index) }];
  });
  const wanted = target === null ? [] : [{ id: "target", label: "target", value: target, colour: "--good" }];
  return [...constants, ...wanted];
}

/** From the first point of any metric to the last. */
export function extentOfAll(series: SeriesMap, { axis, startMs }: Place): Range {
  let [min, max] = [Infinity, -Infinity];
  for (const points of series.values()) {
    for (const { step, timeMs } of points) {
      const x = axis === "step" ? step : (timeMs - startMs) / 1000;
      if (x < min) min = x;
      if (x > max) max = x;
    }
  }
  return extentOf(min <= max ? [min, max] : []);
}

export function figureOf(
  group: MetricGroup,
  lines: readonly Line[],
  references: readonly Reference[],
  marks: readonly Mark[],
  settings: { axis: XAxis; logarithmic: boolean; flips: ReadonlySet<string> },
  extent: Range,
): Figure {
  const ids = [...group.keys, "target", "projection"];
  return {
    lines,
    references,
    marks,
    x: xAxisOf(settings.axis),
    y: group.y,
    logarithmic: settings.logarithmic,
    extent,
    hidden: new Set(ids.filter((id) => group.hiddenAtFirst.includes(id) !== settings.flips.has(id))),
  };
}

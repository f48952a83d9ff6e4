// Metric points of one job: reading them from the wire, adding live ones, smoothing, and lining several series up on
// one axis for a chart. Points are kept in the order of time; by step, a later attempt's point replaces an earlier one's.
import type { LivePoint, WireSeries } from "../api/types";
import { fromWire } from "./numbers";

export interface Point {
  step: number;
  timeMs: number;
  value: number;
}

export type SeriesMap = ReadonlyMap<string, readonly Point[]>;
export type XAxis = "step" | "time";

export function readSeries(wire: readonly WireSeries[]): Map<string, Point[]> {
  return new Map(
    wire.map(({ key, points }) => [
      key,
      points
        .map(([step, timeMs, value]) => ({ step, timeMs, value: fromWire(value) }))
        .sort((a, b) => a.timeMs - b.timeMs || a.step - b.step),
    ]),
  );
}

/** Adds live points, skipping those that the fetch had already brought. Unchanged series keep their identity. */
export function withLivePoints(series: SeriesMap, live: readonly LivePoint[]): SeriesMap {
  const next = new Map(series);
  const grown = new Map<string, Point[]>();
  for (const { key, step, time_ms: timeMs, value } of live) {
    const points = grown.get(key) ?? [...(series.get(key) ?? [])];
    const last = points.at(-1);
    if (last && (timeMs < last.timeMs || (timeMs === last.timeMs && step <= last.step))) continue;
    points.push({ step, timeMs, value: fromWire(value) });
    grown.set(key, points);
  }
  for (const [key, points] of grown) next.set(key, points);
  return grown.size > 0 ? next : series;
}

/** Where a job restarted from a checkpoint, the steps it did again are taken from the later attempt. */
export function byStep(points: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const point of points) {
    while (kept.length > 0 && kept[kept.length - 1]!.step >= point.step) kept.pop();
    kept.push(point);
  }
  return kept;
}

/** An exponential moving average without the bias towards its start; `weight` in [0, 1). */
export function smoothed(points: readonly Point[], weight: number): Point[] {
  let sum = 0;
  let mass = 0;
  return points.map((point) => {
    if (!Number.isFinite(point.value)) return point;
    sum = sum * weight + point.value * (1 - weight);
    mass = mass * weight + (1 - weight);
    return { ...point, value: sum / mass };
  });
}

export interface Aligned {
  xs: number[];
  /** One row a series; null where a series has no point or no finite value. */
  rows: (number | null)[][];
}

export function align(series: readonly (readonly Point[])[], axis: XAxis, startMs: number): Aligned {
  const xOf = (point: Point) => (axis === "step" ? point.step : (point.timeMs - startMs) / 1000);
  const placed = series.map((points) => (axis === "step" ? byStep(points) : points));
  const xs = [...new Set(placed.flatMap((points) => points.map(xOf)))].sort((a, b) => a - b);
  const indexOf = new Map(xs.map((x, index) => [x, index]));
  const rows = placed.map((points) => {
    const row: (number | null)[] = new Array<null>(xs.length).fill(null);
    for (const point of points)
      row[indexOf.get(xOf(point))!] = Number.isFinite(point.value) ? point.value : null;
    return row;
  });
  return { xs, rows };
}

export const countNotFinite = (points: readonly Point[]) =>
  points.filter((point) => !Number.isFinite(point.value)).length;

/** The value at the greatest x that is not beyond `index`: what the crosshair reads for a series with fewer points. */
export function valueAt(row: readonly (number | null)[], index: number | null): number | null {
  for (let at = index ?? row.length - 1; at >= 0; at -= 1) {
    const value = row[at];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

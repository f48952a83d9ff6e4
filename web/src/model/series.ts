// Metric points of one job: reading them from the wire, adding live ones, smoothing, and aligning several series on one axis
// for a chart. The wire has points by step, and a later attempt replaces an earlier one's. Live points arrive attempt by
// attempt. The clocks of nodes may differ, so times order nothing.
import { type LivePoint, type WireSeries, fromWire } from "../api/types";

export interface Point {
  step: number;
  timeMs: number;
  value: number;
}

export type SeriesMap = ReadonlyMap<string, readonly Point[]>;
/** By key; a key without points is absent. */
export type LostPoints = ReadonlyMap<string, number>;
export type XAxis = "step" | "time";

export function readSeries(wire: readonly WireSeries[]): Map<string, Point[]> {
  return new Map(
    wire.map(({ key, points }) => [
      key,
      points.map(([step, timeMs, value]) => ({ step, timeMs, value: fromWire(value) })),
    ]),
  );
}

export const lostPoints = (wire: readonly WireSeries[]): LostPoints =>
  new Map(wire.filter((each) => each.lost_points > 0).map((each) => [each.key, each.lost_points]));

/**
 * Adds live points, except those that the fetch already brought. Unchanged series keep their identity. A series of
 * more than twice `wanted` points is thinned to that many.
 */
export function withLivePoints(
  series: SeriesMap,
  live: readonly LivePoint[],
  wanted = Number.POSITIVE_INFINITY,
): SeriesMap {
  const grown = new Map<string, Point[]>();
  for (const { key, step, time_ms: timeMs, value } of live) {
    const points = grown.get(key) ?? series.get(key) ?? [];
    if (isKnown(points, step, timeMs)) continue;
    const copy = grown.get(key) ?? [...points];
    copy.push({ step, timeMs, value: fromWire(value) });
    grown.set(key, copy);
  }
  if (grown.size === 0) return series;
  const next = new Map(series);
  for (const [key, points] of grown)
    next.set(key, points.length > 2 * wanted ? thinned(points, wanted) : points);
  return next;
}

/** A known step is news only from a later attempt. If the step was thinned away, its neighbours decide. */
function isKnown(points: readonly Point[], step: number, timeMs: number): boolean {
  let at = points.length - 1;
  while (at >= 0 && points[at]!.step > step && (points[at - 1]?.step ?? -1) < points[at]!.step) at -= 1;
  const before = points[at];
  if (before?.step === step) return before.timeMs === timeMs;
  const after = points[at + 1];
  return after !== undefined && timeMs <= after.timeMs && timeMs >= (before?.timeMs ?? -Infinity);
}

/** About `wanted` points: from each bucket the first, the least, the greatest and the first that is not finite. */
export function thinned(points: readonly Point[], wanted: number): Point[] {
  const size = Math.ceil(points.length / Math.max(1, Math.floor(wanted / 3)));
  const kept: Point[] = [];
  for (let from = 0; from < points.length; from += size) {
    const bucket = points.slice(from, from + size);
    const finite = bucket.filter(({ value }) => Number.isFinite(value));
    const least = finite.reduce((low, point) => (point.value < low.value ? point : low), finite[0]!);
    const largest = finite.reduce((high, point) => (point.value > high.value ? point : high), finite[0]!);
    const broken = bucket.find(({ value }) => !Number.isFinite(value));
    const chosen = new Set([bucket[0], least, largest, broken]);
    kept.push(...bucket.filter((point) => chosen.has(point)));
  }
  const last = points.at(-1);
  return last === undefined || kept.at(-1) === last ? kept : [...kept, last];
}

/** Where a job restarted from a checkpoint, the repeated steps are taken from the later attempt. */
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

export const countNotFinite = (points: readonly Point[]) =>
  points.filter((point) => !Number.isFinite(point.value)).length;

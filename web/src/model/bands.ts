// Many curves as a few bands: curves are grouped by what they have in common, and a band shows mean, least and greatest
// value. Pure.
import type { ComparedField, Comparison } from "../api/types";
import { fieldText } from "./comparison";

/** The reader cannot tell more lines apart. */
export const mostLines = 12;
const mostGroups = 8;

export interface Curve {
  xs: number[];
  ys: number[];
}

const nameOf = ({ section, key }: ComparedField) => (section === "labels" ? `label ${key}` : key);

const isGrouping = ({ section, differs, values }: ComparedField, jobs: number) => {
  const count = new Set(values.map((value) => JSON.stringify(value))).size;
  return (section === "spec" || section === "labels") && differs && count <= mostGroups && count < jobs;
};

/** What jobs can be grouped by: settings and labels with few values. */
export const groupings = ({ fields, jobs }: Comparison): string[] =>
  fields.filter((field) => isGrouping(field, jobs.length)).map(nameOf);

export interface Group {
  label: string;
  jobs: number[];
}

/**
 * Grouped as the address says ("all" is one group); if there are too many jobs, by the first way there is. Null:
 * not grouped.
 */
export function groupingFrom(wanted: string | null, comparison: Comparison): string | null {
  const known = groupings(comparison);
  if (wanted !== null && (wanted === "all" || known.includes(wanted))) return wanted;
  return wanted === "each" || comparison.jobs.length <= mostLines ? null : (known[0] ?? "all");
}

export function groupsOf(comparison: Comparison, by: string): Group[] {
  const field = comparison.fields.find((each) => nameOf(each) === by);
  const groups = new Map<string, number[]>();
  comparison.jobs.forEach(({ id }, index) => {
    const label = field
      ? `${field.key.split(".").pop()!} ${fieldText(field, field.values[index])}`
      : "all jobs";
    groups.set(label, [...(groups.get(label) ?? []), id]);
  });
  return [...groups].map(([label, jobs]) => ({ label, jobs }));
}

/** Interpolates linearly between the points; null outside of them. `xs` ascend. */
export function valueOn({ xs, ys }: Curve, x: number): number | null {
  let [low, high] = [0, xs.length - 1];
  if (high < 0 || x < xs[low]! || x > xs[high]!) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle]! <= x) low = middle;
    else high = middle;
  }
  const [before, after] = [xs[low]!, xs[high]!];
  const value =
    x === before
      ? ys[low]!
      : x === after
        ? ys[high]!
        : ys[low]! + ((ys[high]! - ys[low]!) * (x - before)) / (after - before);
  return Number.isFinite(value) ? value : null;
}

/** The difference of two curves where both have values. */
export function differenceTo(base: Curve, { xs, ys }: Curve): Curve {
  return { xs, ys: xs.map((x, index) => ys[index]! - (valueOn(base, x) ?? NaN)) };
}

export interface Band extends Curve {
  lows: number[];
  highs: number[];
}

const mostBuckets = 200;

/** The mean, the least and the greatest value of the curves in each bucket of x. */
export function bandOf(all: readonly Curve[]): Band {
  const curves = all.filter(({ xs }) => xs.length > 0);
  const band: Band = { xs: [], ys: [], lows: [], highs: [] };
  if (curves.length === 0) return band;
  const min = Math.min(...curves.map(({ xs }) => xs[0]!));
  const max = Math.max(...curves.map(({ xs }) => xs.at(-1)!));
  const count = Math.min(mostBuckets, Math.max(1, ...curves.map(({ xs }) => xs.length)));
  const width = (max - min) / count;
  const told = curves.map((curve) => bucketed(curve, min, width, count));
  for (let bucket = 0; bucket < count; bucket += 1) {
    const values = told.flatMap((means) => means[bucket] ?? []);
    if (values.length === 0) continue;
    band.xs.push(min + (bucket + 0.5) * width);
    band.ys.push(values.reduce((sum, value) => sum + value, 0) / values.length);
    band.lows.push(Math.min(...values));
    band.highs.push(Math.max(...values));
  }
  return band;
}

/** The mean of the curve's points in each bucket; between its points, interpolated values. */
function bucketed(curve: Curve, min: number, width: number, count: number): (number | null)[] {
  const sums = new Float64Array(count);
  const counts = new Uint32Array(count);
  curve.xs.forEach((x, index) => {
    const value = curve.ys[index]!;
    if (!Number.isFinite(value)) return;
    const bucket = width > 0 ? Math.min(count - 1, Math.floor((x - min) / width)) : 0;
    sums[bucket]! += value;
    counts[bucket]! += 1;
  });
  return Array.from(sums, (sum, bucket) =>
    counts[bucket]! > 0 ? sum / counts[bucket]! : valueOn(curve, min + (bucket + 0.5) * width),
  );
}

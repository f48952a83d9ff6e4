// The lines of one metric of the compared jobs: a line for each job in the job's colour, or a band for each group. The
// values are as measured, or minus those of the base.
import type { Comparison } from "../api/types";
import { colourAt, type Line } from "../charts/line";
import { bandOf, differenceTo, groupsOf, type Curve } from "../model/bands";
import type { CompareAxis, CompareSettings } from "../model/compare_address";
import { apart, placed, xOf } from "../model/comparison";
import { smoothed, type Point } from "../model/series";
import type { ComparedSeries } from "../state/compared_series";
import { isDashed } from "./job_tag";

export interface Drawing {
  metric: string;
  settings: CompareSettings;
  comparison: Comparison;
  axis: CompareAxis;
  tokens: ReadonlyMap<number, number> | null;
  /** Null: jobs are not grouped. */
  grouping: string | null;
}

/** The name of a group's band in the legend, by which it is hidden. */
export const groupId = (index: number) => `group ${index}`;

export function curveLines(drawing: Drawing, series: ComparedSeries): Line[] {
  const { metric, settings, comparison, grouping } = drawing;
  // Evaluations are few and are averages already, so smoothing would only delay them.
  const smooth = metric.startsWith("eval/") ? 0 : settings.smooth;
  if (grouping !== null) return bandLines(drawing, series, smooth);
  const { rests } = apart(comparison.jobs.map(({ name }) => name));
  const lines = settings.jobs.flatMap((id, slot): Line[] => {
    const at = comparison.jobs.findIndex((job) => job.id === id);
    const points = series.get(id);
    if (at < 0 || !points) return [];
    const whole = {
      id: String(id),
      label: `${id} ${rests[at] || comparison.jobs[at]!.name}`,
      colour: colourAt(slot),
    };
    const line = (of: readonly Point[], style: { dots?: boolean; faint?: boolean }) => ({
      ...whole,
      style: { kind: "line" as const, dashed: isDashed(slot), ...style },
      ...curveOf(drawing, series, id, of, smooth),
    });
    if (smooth === 0) return [line(points, { dots: metric.startsWith("eval/") })];
    const behind = { ...line(points, { faint: true }), id: `${id} as measured`, of: String(id) };
    return [behind, line(smoothed(points, smooth), {})];
  });
  // The first is drawn first, below the others.
  return [...lines.filter(({ style }) => style.faint), ...lines.filter(({ style }) => !style.faint)];
}

function bandLines(drawing: Drawing, series: ComparedSeries, smooth: number): Line[] {
  const { settings, comparison, grouping } = drawing;
  const groups = groupsOf(comparison, grouping!);
  const lines = groups.flatMap(({ label, jobs }, index): Line[] => {
    const having = jobs.filter((id) => series.has(id) && !settings.hidden.has(id));
    const curves = having.map((id) => {
      const points = series.get(id)!;
      return curveOf(drawing, series, id, smooth > 0 ? smoothed(points, smooth) : points, smooth);
    });
    const { xs, ys, lows, highs } = bandOf(curves);
    const whole = { colour: colourAt(index), xs };
    const id = groupId(index);
    return [
      {
        ...whole,
        id: `${id} range`,
        label: `${label}, range`,
        style: { kind: "band" },
        ys: highs,
        lows,
        of: id,
      },
      { ...whole, id, label: `${label}, mean of ${having.length}`, style: { kind: "line" }, ys },
    ];
  });
  return [
    ...lines.filter(({ style }) => style.kind === "band"),
    ...lines.filter(({ style }) => style.kind !== "band"),
  ];
}

function curveOf(
  drawing: Drawing,
  series: ComparedSeries,
  id: number,
  points: readonly Point[],
  smooth: number,
): Curve {
  const own = onAxis(drawing, id, points);
  const { settings, comparison } = drawing;
  const base = settings.difference ? series.get(comparison.base) : undefined;
  if (!base) return own;
  return differenceTo(onAxis(drawing, comparison.base, smooth > 0 ? smoothed(base, smooth) : base), own);
}

function onAxis({ comparison, axis, tokens }: Drawing, id: number, points: readonly Point[]): Curve {
  const job = comparison.jobs.find((each) => each.id === id)!;
  const place = { axis, startMs: job.started_ms ?? job.submitted_ms, tokens: tokens?.get(id) ?? 1 };
  const shown = placed(points, axis);
  return { xs: shown.map((point) => xOf(place, point)), ys: shown.map(({ value }) => value) };
}

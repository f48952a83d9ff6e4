// One chart of a job's metrics.
import { useMemo } from "preact/hooks";
import type { Attempt, Projection, Target } from "../api/types";
import { Chart } from "../charts/chart";
import { CurveNotes } from "../charts/curve_notes";
import type { Range } from "../charts/line";
import { formatCount, formatNumber } from "../format/numbers";
import { formatAbsolute, formatDuration } from "../format/times";
import { attemptMarks, targetLine, type MetricGroup } from "../model/charts";
import { endWithFan, fanOf } from "../model/projection";
import { type LostPoints, type Point, type SeriesMap } from "../model/series";
import { setParams } from "../state/router";
import { flipped, type ChartSettings } from "./chart_settings";
import { fanLines, figureOf, linesOf, referencesOf } from "./metric_figure";

interface Properties {
  job: number;
  group: MetricGroup;
  series: SeriesMap;
  lost: LostPoints;
  settings: ChartSettings;
  attempts: readonly Attempt[];
  target: Target | null;
  /** The last point of a metric of the group. */
  projection: Projection | null;
  /** The step after which the training ends. */
  steps: number;
  startMs: number;
  extent: Range;
}

export function MetricChart(properties: Properties) {
  const { job, group, series, lost, settings, attempts, target, projection, steps, startMs, extent } =
    properties;
  const { axis, smooth } = settings;
  const points = group.keys.map((key) => series.get(key) ?? []);
  const wanted = targetLine(group, target);
  const lines = useMemo(
    () => linesOf(group, series, { axis, startMs }, smooth),
    [...group.keys, ...points, axis, startMs, smooth],
  );
  const references = useMemo(() => referencesOf(group, series, wanted), [...group.keys, ...points, wanted]);
  const marks = useMemo(() => attemptMarks(attempts, axis, startMs), [attempts, axis, startMs]);
  const projected = projection?.metric ? (series.get(projection.metric) ?? []) : null;
  const fan = useMemo(
    () => projected && projection && fanOf(projection, projected, { axis, startMs, steps }),
    [projection, projected, axis, startMs, steps],
  );
  const figure = useMemo(() => {
    const all = fan ? [...fanLines(fan, group.keys.indexOf(projection!.metric!)), ...lines] : lines;
    const range = fan ? { min: extent.min, max: endWithFan(fan, extent) } : extent;
    return figureOf(group, all, references, marks, settings, range);
  }, [group.id, lines, fan, references, marks, settings, extent]);
  return (
    <Chart
      title={group.title}
      file={`job-${job}-${group.id.replace(/\W+/g, "-")}`}
      figure={figure}
      summary={describe(group, points)}
      readX={(x) => (axis === "time" ? readTime(x, startMs) : readStep(x, points, startMs))}
      note={(key) => <CurveNotes points={series.get(key) ?? []} lost={lost.get(key) ?? 0} />}
      onToggle={(key) => setParams({ flip: flipped(settings.flips, key) })}
      asTable={settings.tables.has(group.id)}
      onTable={() => setParams({ table: flipped(settings.tables, group.id) })}
    />
  );
}

const readTime = (seconds: number, startMs: number) =>
  `${formatDuration(seconds)} · ${formatAbsolute(startMs + seconds * 1000)}`;

/** The last time at which the step was made, if attempts repeated it. */
function readStep(step: number, points: readonly (readonly Point[])[], startMs: number): string {
  const made = points.flatMap((each) => each.filter((point) => point.step === step));
  const lastMs = Math.max(...made.map(({ timeMs }) => timeMs));
  const after = Number.isFinite(lastMs) ? ` · ${formatDuration((lastMs - startMs) / 1000)}` : "";
  return `step ${formatCount(step)}${after}`;
}

function describe(group: MetricGroup, points: readonly (readonly Point[])[]): string {
  const parts = group.keys.map((key, index) => {
    const last = points[index]?.at(-1);
    return last ? `${key} is ${formatNumber(last.value)} at step ${last.step}` : `${key} has no points`;
  });
  return `${group.title} chart: ${parts.join("; ")}`;
}

// One metric of all compared jobs.
import { useMemo } from "preact/hooks";
import type { Comparison } from "../api/types";
import { Chart } from "../charts/chart";
import { colourAt, type Axis, type Line, type Range, type Reference } from "../charts/line";
import type { Figure } from "../charts/plot_options";
import { useComparedSeries } from "../hooks/use_compared_series";
import { writeNumbers, type CompareAxis, type CompareSettings } from "../model/compare_address";
import { apart, placed, xOf, type Place } from "../model/comparison";
import { formatCount, formatNumber } from "../model/numbers";
import { threshold } from "../model/progress";
import { countNotFinite, smoothed, type Point } from "../model/series";
import { formatDuration } from "../model/times";
import type { ComparedSeries } from "../state/compared_series";
import { setParams } from "../state/router";
import { Button } from "../ui/button";
import { isDashed } from "./job_tag";

interface Properties {
  metric: string;
  settings: CompareSettings;
  comparison: Comparison;
  axis: CompareAxis;
  x: Axis;
  tokens: ReadonlyMap<number, number> | null;
  extent: Range;
}

export function OverlayChart(properties: Properties) {
  const { metric, settings, comparison, axis, x, extent } = properties;
  const having = comparison.metrics.find(({ key }) => key === metric)?.jobs ?? [];
  const ids = settings.jobs.filter((id) => having.includes(id));
  const shown = useComparedSeries(ids, metric);
  const lines = useLines(properties, shown.data);
  const references = useMemo(() => referencesOf(comparison, metric), [comparison.jobs, metric]);
  const figure = useMemo<Figure>(
    () => ({
      lines,
      references,
      marks: [],
      x,
      y: { title: metric.split("/").pop()!.replaceAll("_", " "), numbers: "plain" },
      logarithmic: settings.logarithmic,
      extent,
      hidden: new Set([...settings.hidden].map(String)),
    }),
    [lines, references, x, metric, settings.logarithmic, settings.hidden, extent],
  );
  const lacking = comparison.jobs.map(({ id }) => id).filter((id) => !having.includes(id));
  return (
    <>
      <Chart
        title={metric}
        file={`compare-${metric.replace(/\W+/g, "-")}`}
        figure={figure}
        summary={describe(metric, shown.data)}
        readX={(at) => readOf(axis, at)}
        note={(id) => <NotFinite points={shown.data?.get(Number(id)) ?? []} />}
        onToggle={(id) => setParams({ hide: writeNumbers(toggled(settings.hidden, Number(id))) })}
        asTable={settings.tables.has(metric)}
        onTable={(on) => setParams({ table: tablesText(settings.tables, metric, on) })}
      />
      {shown.error && (
        <p class="error-text overlay-note" role="alert">
          {shown.error}{" "}
          <Button small onPress={shown.retry}>
            Retry
          </Button>
        </p>
      )}
      {lacking.length > 0 && <p class="muted overlay-note">not recorded by {lacking.join(", ")}</p>}
    </>
  );
}

function useLines(
  { metric, settings, comparison, axis, tokens }: Properties,
  series: ComparedSeries | null,
): Line[] {
  const names = useMemo(() => {
    const { rests } = apart(comparison.jobs.map(({ name }) => name));
    return new Map(comparison.jobs.map(({ id, name }, index) => [id, `${id} ${rests[index] || name}`]));
  }, [comparison.jobs.map(({ id }) => id).join(",")]);
  const starts = comparison.jobs.map((job) => job.started_ms ?? job.submitted_ms);
  return useMemo(() => {
    const evaluated = metric.startsWith("eval/");
    const lines = settings.jobs.flatMap((id, slot) => {
      const at = comparison.jobs.findIndex((job) => job.id === id);
      const points = series?.get(id);
      if (at < 0 || !points) return [];
      const place = { axis, startMs: starts[at]!, tokens: tokens?.get(id) ?? 1 };
      const whole = { id: String(id), label: names.get(id)!, colour: colourAt(slot), slot };
      // Evaluations are few and already averages; smoothing them would only make them late.
      if (settings.smooth === 0 || evaluated) return [lineOf(whole, points, place, { dots: evaluated })];
      return [
        { ...lineOf({ ...whole, id: `${id} as measured` }, points, place, { faint: true }), of: String(id) },
        lineOf(whole, smoothed(points, settings.smooth), place, {}),
      ];
    });
    // What is behind is drawn first.
    return [...lines.filter(({ style }) => style.faint), ...lines.filter(({ style }) => !style.faint)];
  }, [metric, settings.jobs.join(","), settings.smooth, axis, series, names, tokens, starts.join(",")]);
}

interface Whole {
  id: string;
  label: string;
  colour: string;
  slot: number;
}

function lineOf(
  { slot, ...line }: Whole,
  points: readonly Point[],
  place: Place,
  style: { dots?: boolean; faint?: boolean },
): Line {
  const shown = placed(points, place.axis);
  return {
    ...line,
    style: { kind: "line", dashed: isDashed(slot), ...style },
    xs: shown.map((point) => xOf(place, point)),
    ys: shown.map(({ value }) => value),
  };
}

/** Where all that have a target on the metric have the same. */
function referencesOf({ jobs }: Comparison, metric: string): Reference[] {
  const wanted = new Set(
    jobs.flatMap(({ target }) => (target?.metric === metric ? [threshold(target)] : [])),
  );
  const [value] = wanted;
  if (wanted.size !== 1 || value === undefined) return [];
  return [{ id: "0", label: "target", value, colour: "--good" }];
}

function toggled(hidden: ReadonlySet<number>, id: number): Set<number> {
  const next = new Set(hidden);
  if (id > 0 && !next.delete(id)) next.add(id);
  return next;
}

const tablesText = (tables: ReadonlySet<string>, metric: string, on: boolean) =>
  [...tables]
    .filter((each) => each !== metric)
    .concat(on ? [metric] : [])
    .join(",");

const readOf = (axis: CompareAxis, at: number) =>
  axis === "time" ? formatDuration(at) : `${axis === "tokens" ? "tokens" : "step"} ${formatCount(at)}`;

function NotFinite({ points }: { points: readonly Point[] }) {
  const count = countNotFinite(points);
  return count === 0 ? null : <span class="error-text">{count} not finite</span>;
}

function describe(metric: string, series: ComparedSeries | null): string {
  const parts = [...(series ?? [])].map(([id, points]) => {
    const last = points.at(-1);
    return last
      ? `job ${id} is at ${formatNumber(last.value)} at step ${last.step}`
      : `job ${id} has no points`;
  });
  return `${metric} of the compared jobs: ${parts.join("; ")}`;
}

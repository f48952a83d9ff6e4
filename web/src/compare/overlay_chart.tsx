// One metric of all compared jobs.
import type { Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Comparison } from "../api/types";
import { Chart } from "../charts/chart";
import { CurveNotes } from "../charts/curve_notes";
import type { Axis, Range, Reference } from "../charts/line";
import type { Figure } from "../charts/plot_options";
import { formatCount, formatNumber } from "../format/numbers";
import { formatDuration } from "../format/times";
import { useComparedSeries } from "../hooks/use_compared_series";
import { groupsOf, type Group } from "../model/bands";
import { targetId, writeNumbers, type CompareAxis } from "../model/compare_address";
import { threshold } from "../model/progress";
import type { ComparedSeries } from "../state/compared_series";
import { setParams } from "../state/router";
import { Button } from "../ui/button";
import { curveLines, groupId, type Drawing } from "./curve_lines";

interface Properties extends Drawing {
  x: Axis;
  extent: Range;
  /** The job that the reader points at. */
  lit: Signal<number | null>;
}

export function OverlayChart(properties: Properties) {
  const { metric, settings, comparison, axis, x, extent, grouping, lit } = properties;
  const having = comparison.metrics.find(({ key }) => key === metric)?.jobs ?? [];
  const ids = settings.jobs.filter((id) => having.includes(id));
  const shown = useComparedSeries(ids, metric);
  const starts = comparison.jobs.map((job) => job.started_ms ?? job.submitted_ms).join(",");
  const lines = useMemo(
    () => (shown.data ? curveLines(properties, shown.data) : []),
    [metric, settings, axis, shown.data, properties.tokens, grouping, starts, comparison.base],
  );
  const references = useMemo(
    () => (settings.difference ? [] : referencesOf(comparison, metric)),
    [comparison.jobs, metric, settings.difference],
  );
  const group = useMemo(
    () => (grouping === null ? [] : groupsOf(comparison, grouping)),
    [comparison, grouping],
  );
  const figure = useMemo<Figure>(
    () => ({
      lines,
      references,
      marks: [],
      x,
      y: {
        title: settings.difference
          ? `minus job ${comparison.base}`
          : metric.split("/").pop()!.replaceAll("_", " "),
        numbers: "plain",
      },
      logarithmic: settings.logarithmic,
      extent,
      hidden: new Set([...settings.hidden].map(String).concat(hiddenGroups(group, settings.hidden))),
    }),
    [lines, references, x, metric, settings, group, comparison.base, extent],
  );
  const litLine = litId(lit.value, group, grouping !== null);
  const lacking = comparison.jobs.map(({ id }) => id).filter((id) => !having.includes(id));
  return (
    <>
      <Chart
        title={metric}
        file={`compare-${metric.replace(/\W+/g, "-")}`}
        figure={{ ...figure, lit: litLine }}
        summary={describe(metric, shown.data)}
        readX={(at) => readOf(axis, at)}
        note={(id) => (
          <CurveNotes points={shown.data?.get(Number(id)) ?? []} lost={shown.lost.get(Number(id)) ?? 0} />
        )}
        onToggle={(id) => setParams({ hide: writeNumbers(toggled(settings.hidden, jobsOf(id, group))) })}
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

/** The target, if all jobs with a target on the metric have the same one. */
function referencesOf({ jobs }: Comparison, metric: string): Reference[] {
  const wanted = new Set(
    jobs.flatMap(({ target }) => (target?.metric === metric ? [threshold(target)] : [])),
  );
  const [value] = wanted;
  if (wanted.size !== 1 || value === undefined) return [];
  return [{ id: String(targetId), label: "target", value, colour: "--good" }];
}

/** A line at the crosshair that the row of the rail lights up. */
function litId(job: number | null, groups: readonly Group[], grouped: boolean): string | null {
  if (job === null) return null;
  if (!grouped) return String(job);
  const index = groups.findIndex(({ jobs }) => jobs.includes(job));
  return index < 0 ? null : groupId(index);
}

/** The jobs of an entry of the legend: one, or those of a group. */
const jobsOf = (id: string, groups: readonly Group[]) =>
  groups.find((_, index) => groupId(index) === id)?.jobs ?? [Number(id)];

/** The entries of which no job is shown. */
const hiddenGroups = (groups: readonly Group[], hidden: ReadonlySet<number>) =>
  groups.flatMap(({ jobs }, index) => (jobs.every((id) => hidden.has(id)) ? [groupId(index)] : []));

/** Shows or hides all jobs of an entry. */
function toggled(hidden: ReadonlySet<number>, ids: readonly number[]): Set<number> {
  const next = new Set(hidden);
  const hide = ids.some((id) => !hidden.has(id));
  for (const id of ids) {
    if (hide) next.add(id);
    else next.delete(id);
  }
  return next;
}

const tablesText = (tables: ReadonlySet<string>, metric: string, on: boolean) =>
  [...tables]
    .filter((each) => each !== metric)
    .concat(on ? [metric] : [])
    .join(",");

const readOf = (axis: CompareAxis, at: number) =>
  axis === "time" ? formatDuration(at) : `${axis === "tokens" ? "tokens" : "step"} ${formatCount(at)}`;

function describe(metric: string, series: ComparedSeries | null): string {
  const parts = [...(series ?? [])].map(([id, points]) => {
    const last = points.at(-1);
    return last
      ? `job ${id} is at ${formatNumber(last.value)} at step ${last.step}`
      : `job ${id} has no points`;
  });
  return `${metric} of the compared jobs: ${parts.join("; ")}`;
}

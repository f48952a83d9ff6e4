// A chart with its title and a legend that reads out the values under the crosshair and switches curves on and off.
import { useSignal, type Signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import type { Attempt, Target } from "../api/types";
import { attemptMarks, targetLine, type ChartGroup } from "../model/charts";
import { formatNumber } from "../model/numbers";
import { formatAbsolute, formatDuration } from "../model/times";
import {
  align,
  countNotFinite,
  smoothed,
  valueAt,
  type Aligned,
  type Point,
  type SeriesMap,
} from "../model/series";
import { setParams } from "../state/router";
import { dark } from "../state/theme";
import { Chart } from "./chart";
import { cssVariable, seriesColours, type Curve } from "./chart_options";
import { flipped, type ChartSettings } from "./chart_settings";

interface Properties {
  group: ChartGroup;
  series: SeriesMap;
  settings: ChartSettings;
  attempts: readonly Attempt[];
  target: Target | null;
  startMs: number;
}

export function ChartPanel({ group, series, settings, attempts, target, startMs }: Properties) {
  const cursor = useSignal<number | null>(null);
  const [zoomed, setZoomed] = useState(false);
  const shown = (key: string) => group.hiddenAtFirst.includes(key) === settings.flips.has(key);
  const points = group.keys.map((key) => series.get(key) ?? []);
  const { smooth, axis } = settings;
  const data = useMemo(() => {
    const curves =
      smooth > 0
        ? [...points, ...group.keys.map((key, index) => smoothIfTraining(key, points[index]!, smooth))]
        : points;
    return align(curves, axis, startMs);
  }, [...points, smooth, axis, startMs]);
  const positive = data.rows.every((row) => row.every((value) => value === null || value > 0));
  const logarithmic = settings.logarithmic && positive;
  const isDark = dark.value;
  const curve = (key: string, faint: boolean): Curve => ({
    key,
    colour: colourOf(key, group.keys),
    points: !faint && key.startsWith("eval/"),
    faint,
    shown: shown(key),
  });
  const curves = [
    ...(smooth > 0 ? group.keys.map((key) => curve(key, true)) : []),
    ...group.keys.map((key) => curve(key, false)),
  ];
  const marks = attemptMarks(attempts, axis, startMs);
  const line = targetLine(group, target);
  const lookKey = JSON.stringify([curves, axis, logarithmic, marks, line, isDark]);
  const look = {
    curves,
    axis,
    logarithmic,
    marks,
    target: line,
    onCursor: (index: number | null) => {
      cursor.value = index;
    },
    onZoom: setZoomed,
  };
  return (
    <section class="panel chart-panel" aria-label={group.title}>
      <header class="panel-head">
        <h2>{group.title}</h2>
        {group.unit && <span class="muted">{group.unit}</span>}
        {settings.logarithmic && !positive && <span class="muted">linear: not all values are positive</span>}
        {zoomed && (
          <button type="button" class="button button-small" onClick={() => setZoomed(false)}>
            Reset zoom
          </button>
        )}
        <CursorPosition cursor={cursor} data={data} axis={axis} points={points} startMs={startMs} />
      </header>
      <Chart
        data={data}
        look={look}
        lookKey={lookKey}
        zoomed={zoomed}
        height={210}
        label={describe(group, points)}
      />
      <div class="legend">
        {group.keys.map((key, index) => (
          <button
            key={key}
            type="button"
            class="legend-entry"
            aria-pressed={shown(key)}
            title={shown(key) ? "Hide this curve" : "Show this curve"}
            onClick={() => setParams({ flip: flipped(settings.flips, key) })}
          >
            <span class={`swatch series-${index % seriesColours}`} aria-hidden="true" />
            <span class="legend-key">{key}</span>
            <Reading cursor={cursor} row={data.rows[data.rows.length - group.keys.length + index] ?? []} />
            <NotFinite points={points[index] ?? []} />
          </button>
        ))}
      </div>
    </section>
  );
}

const colourOf = (key: string, keys: readonly string[]) =>
  cssVariable(`--series-${keys.indexOf(key) % seriesColours}`);

/** Evaluations are few and already averages; smoothing them would only make them late. */
const smoothIfTraining = (key: string, points: readonly Point[], weight: number) =>
  key.startsWith("eval/") ? points : smoothed(points, weight);

function Reading({ cursor, row }: { cursor: Signal<number | null>; row: readonly (number | null)[] }) {
  const value = valueAt(row, cursor.value);
  return <span class="legend-value number">{value === null ? "–" : formatNumber(value)}</span>;
}

function NotFinite({ points }: { points: readonly Point[] }) {
  const count = countNotFinite(points);
  if (count === 0) return null;
  return <span class="error-text">{count} not finite</span>;
}

interface PositionProperties {
  cursor: Signal<number | null>;
  data: Aligned;
  axis: "step" | "time";
  points: readonly (readonly Point[])[];
  startMs: number;
}

function CursorPosition({ cursor, data, axis, points, startMs }: PositionProperties) {
  const index = cursor.value;
  const x = index === null ? undefined : data.xs[index];
  if (x === undefined) return null;
  if (axis === "time") {
    return (
      <span class="cursor-position number">
        {formatDuration(x)} · {formatAbsolute(startMs + x * 1000)}
      </span>
    );
  }
  const timeMs = points.flatMap((each) => each.filter((point) => point.step === x)).at(-1)?.timeMs;
  return (
    <span class="cursor-position number">
      step {x}
      {timeMs !== undefined && ` · ${formatDuration((timeMs - startMs) / 1000)}`}
    </span>
  );
}

function describe(group: ChartGroup, points: readonly (readonly Point[])[]): string {
  const parts = group.keys.map((key, index) => {
    const last = points[index]?.at(-1);
    return last ? `${key} is ${formatNumber(last.value)} at step ${last.step}` : `${key} has no points`;
  });
  return `${group.title} chart: ${parts.join("; ")}`;
}

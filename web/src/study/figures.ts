// The three charts of a scaling study, all over devices: time to train, throughput, efficiency. A line joins one's own
// sizes; published results are never joined.
import { colourAt, type Axis, type Line, type Mark, type Range } from "../charts/line";
import type { Figure } from "../charts/plot_options";
import type { PublishedRow, ScalingRow, ScalingTable, Study } from "../api/types";
import { formatNumber, formatPercent } from "../format/numbers";
import { formatDuration } from "../format/times";
import {
  idealTime,
  missingSizes,
  parametersText,
  publishedPlace,
  rateOf,
  timeSpread,
  type PublishedMeasure,
  type RateUnit,
} from "../model/study";

export interface StudyFigure {
  measure: PublishedMeasure;
  title: string;
  /** Without hidden lines, which the address has. */
  figure: Omit<Figure, "hidden">;
  summary: string;
}

interface Value {
  value: number;
  low?: number;
  high?: number;
  note: string;
}

interface Measure {
  measure: PublishedMeasure;
  title: string;
  y: Axis;
  logarithmic: boolean;
  of(row: ScalingRow, table: ScalingTable): Value | null;
  ideal(table: ScalingTable): ((devices: number) => number) | null;
  text(value: number): string;
}

const baseOf = (table: ScalingTable) => table.rows.find(({ devices }) => devices === table.base);

function measuresOf(study: Study, unit: RateUnit): Measure[] {
  const rateTitle = { title: unit, unit: "per second", numbers: "plain" } as const;
  return [
    {
      measure: "time",
      title: "Time to train",
      y: { title: "time to train", numbers: "duration" },
      logarithmic: true,
      of(row) {
        if (row.time_to_train_seconds === null) return null;
        const value = row.time_to_train_seconds;
        return { value, ...timeSpread(study, row), note: formatDuration(value) };
      },
      ideal: idealTime,
      text: formatDuration,
    },
    {
      measure: "rate",
      title: "Throughput",
      y: rateTitle,
      logarithmic: true,
      of(row) {
        const rate = rateOf(row, unit);
        return (
          rate && { value: rate.median, low: rate.low, high: rate.high, note: formatNumber(rate.median, 3) }
        );
      },
      ideal(table) {
        const base = baseOf(table);
        const each = base && rateOf(base, unit);
        return each ? (devices) => (each.median / base.devices) * devices : null;
      },
      text: (value) => formatNumber(value),
    },
    {
      measure: "efficiency",
      title: "Scaling efficiency",
      y: { title: "of linear", unit: "%", numbers: "plain", holds: { min: 0, max: 110 } },
      logarithmic: false,
      of(row, table) {
        const rate = rateOf(row, unit);
        const base = baseOf(table);
        if (row.efficiency === null || !rate || !base?.per_device) return null;
        const shareOf = (value: number) => (100 * value) / row.devices / base.per_device!;
        return {
          value: 100 * row.efficiency,
          low: shareOf(rate.low),
          high: shareOf(rate.high),
          note: formatPercent(row.efficiency),
        };
      },
      ideal: (table) => (table.base === null ? null : () => 100),
      text: (value) => formatPercent(value / 100, 1),
    },
  ];
}

export function studyFigures(
  study: Study,
  published: readonly PublishedRow[],
  unit: RateUnit,
): StudyFigure[] {
  const own = sizesOf(study, []);
  const devices = sizesOf(study, published);
  const x: Axis = { title: "devices", numbers: "plain", base: 2, ticks: devices.map((at) => ({ at })) };
  const extent: Range = { min: (devices[0] ?? 1) / 1.25, max: (devices.at(-1) ?? 1) * 1.25 };
  return measuresOf(study, unit).map((measure) => {
    const lines = [
      ...study.tables.flatMap((table, place) => idealLine(measure, table, place, own)),
      ...publishedLines(measure.measure, published, unit),
      ...study.tables.flatMap((table, place) => ownLines(measure, table, place)),
    ];
    return {
      measure: measure.measure,
      title: measure.title,
      figure: {
        lines,
        references: [],
        marks: marksOf(study),
        x,
        y: measure.y,
        logarithmic: measure.logarithmic,
        extent,
      },
      summary: summaryOf(measure, study.tables),
    };
  });
}

/** The devices of all measured, wanted and published sizes, ascending. */
function sizesOf(study: Study, published: readonly PublishedRow[]): number[] {
  const all = [...study.members.map(({ devices }) => devices), ...published.map(({ devices }) => devices)];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Sizes without a figure keep their place on the axis. */
function marksOf(study: Study): Mark[] {
  return study.tables.flatMap((table) =>
    missingSizes(study, table).map(({ devices, state }) => ({ x: devices, label: `${devices}: ${state}` })),
  );
}

function idealLine(
  { ideal }: Measure,
  table: ScalingTable,
  place: number,
  devices: readonly number[],
): Line[] {
  const of = ideal(table);
  const from = devices.filter((count) => count >= (table.base ?? Infinity));
  if (!of || from.length === 0) return [];
  const name = parametersText(table.parameters);
  const ends = from.length === 1 ? [from[0]!, from[0]! * 1.25] : from;
  return [
    {
      id: `ideal ${place}`,
      label: name === "" ? "linear" : `linear, ${name}`,
      colour: "--muted",
      style: { kind: "line", dashed: true },
      xs: ends,
      ys: ends.map(of),
    },
  ];
}

function ownLines(measure: Measure, table: ScalingTable, place: number): Line[] {
  const name = parametersText(table.parameters);
  const colour = colourAt(place);
  const pairs = table.rows.flatMap((row) => {
    const value = measure.of(row, table);
    return value ? [{ row, value }] : [];
  });
  const line = (id: string, label: string, of: typeof pairs, style: Line["style"]): Line[] =>
    of.length === 0
      ? []
      : [
          {
            id: `${id} ${place}`,
            label: name === "" ? label : `${name}${label === "measured" ? "" : `, ${label}`}`,
            colour,
            style,
            xs: of.map(({ row }) => row.devices),
            ys: of.map(({ value }) => value.value),
            errors: {
              lows: of.map(({ value }) => value.low ?? value.value),
              highs: of.map(({ value }) => value.high ?? value.value),
            },
            notes: of.map(({ value }) => value.note),
          },
        ];
  const ended = pairs.filter(({ row }) => !row.so_far);
  const underWay = pairs.filter(({ row }) => row.so_far);
  return [
    ...line("measured", "measured", ended, { kind: "line", marker: "dot" }),
    ...line("so far", "so far", underWay, { kind: "scatter", marker: "ring" }),
  ];
}

/** Diamonds for each combination of hardware, precision and source, because they are not comparable. */
function publishedLines(measure: PublishedMeasure, rows: readonly PublishedRow[], unit: RateUnit): Line[] {
  const groups = new Map<string, { devices: number; value: number }[]>();
  for (const row of rows) {
    const place = publishedPlace(row, unit);
    if (place?.measure !== measure) continue;
    const value = measure === "efficiency" ? 100 * place.value : place.value;
    const name = [row.hardware, row.precision, row.date.slice(0, 4)].filter(Boolean).join(", ");
    groups.set(name, [...(groups.get(name) ?? []), { devices: row.devices, value }]);
  }
  return [...groups].map(([name, values]) => {
    const sorted = [...values].sort((a, b) => a.devices - b.devices);
    return {
      id: `published ${name}`,
      label: `published: ${name}`,
      colour: "--muted",
      style: { kind: "scatter", marker: "diamond" },
      xs: sorted.map(({ devices }) => devices),
      ys: sorted.map(({ value }) => value),
    };
  });
}

function summaryOf(measure: Measure, tables: readonly ScalingTable[]): string {
  const parts = tables.flatMap((table) =>
    table.rows.flatMap((row) => {
      const value = measure.of(row, table);
      return value ? [`${row.devices} devices ${measure.text(value.value)}`] : [];
    }),
  );
  return `${measure.title} over devices: ${parts.join("; ") || "nothing measured yet"}`;
}

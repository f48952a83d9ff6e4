// What a chart draws, whatever its subject: lines of several kinds, values to compare with, and marks on the x axis.
import { formatNumber } from "../format/numbers";
import { formatAbsolute, formatDuration } from "../format/times";

export type Kind = "line" | "steps" | "scatter" | "area" | "bars" | "band";

/** "ring": not final. "diamond": published elsewhere. */
export type Marker = "dot" | "ring" | "diamond";

export interface Style {
  kind: Kind;
  /** Drawn at every value of a line or a scatter. */
  marker?: Marker;
  dashed?: boolean;
  /** A dot at every value. */
  dots?: boolean;
  /** The line is drawn faintly, as context for another line. */
  faint?: boolean;
  /** The line is not in tables, because another line has its values. */
  drawnOnly?: boolean;
}

export interface Line {
  id: string;
  label: string;
  /** The name of a colour in the style sheet, such as "--series-0", so that the line follows the theme. */
  colour: string;
  style: Style;
  /** In ascending order. */
  xs: ArrayLike<number>;
  /** One value for each of `xs`; values that are not finite are left out. For a band, its upper edge. */
  ys: ArrayLike<number>;
  /** For a band, its lower edge. */
  lows?: ArrayLike<number>;
  /** One for each of `xs`: how far the value may be off, drawn as a whisker. */
  errors?: { lows: ArrayLike<number>; highs: ArrayLike<number> };
  /** One for each of `xs`: a text at the value. */
  notes?: readonly string[];
  /** The id of the line whose entry in the legend also shows and hides this line; its own by default. */
  of?: string;
}

const colours = 8;

/** Colours follow the index of a line and repeat after eight. */
export const colourAt = (index: number) => `--series-${index % colours}`;

/** A value to compare curves with: a target, or a metric that never changes. */
export interface Reference {
  id: string;
  label: string;
  value: number;
  colour: string;
}

/** A place on the x axis where something began. */
export interface Mark {
  x: number;
  label: string;
}

export interface Axis {
  title: string;
  unit?: string;
  /** "duration": seconds. "date": milliseconds since 1970, for x alone. */
  numbers: "plain" | "duration" | "date";
  /** For x: the axis is logarithmic to this base. */
  base?: 2 | 10;
  /** For x: where the ticks are, and their texts if they are not numbers. */
  ticks?: readonly { at: number; label?: string }[];
  /** For y: a range that is always visible. */
  holds?: Range;
}

export const titleOf = ({ title, unit }: Axis) => (unit ? `${title} (${unit})` : title);

/** A value of the axis, for a reader. */
export const valueText = ({ numbers }: Axis, value: number) =>
  numbers === "date"
    ? formatAbsolute(value)
    : numbers === "duration"
      ? formatDuration(value)
      : formatNumber(value);

export const entryOf = (line: Line) => line.of ?? line.id;

export interface Aligned {
  xs: number[];
  /** One row for each series of the plot: one for a line, two for a band (upper, lower). Null where there is no value. */
  rows: (number | null)[][];
}

/** The series of a plot in the order of `Aligned.rows`. */
export function seriesOf(lines: readonly Line[]): { line: Line; ys: ArrayLike<number> }[] {
  return lines.flatMap((line) =>
    line.lows
      ? [
          { line, ys: line.ys },
          { line, ys: line.lows },
        ]
      : [{ line, ys: line.ys }],
  );
}

/** Brings lines with different xs onto one axis. */
export function align(lines: readonly Line[]): Aligned {
  const xs = merged(lines);
  const rows = seriesOf(lines).map(({ line, ys }) => {
    const row: (number | null)[] = new Array<null>(xs.length).fill(null);
    let at = 0;
    for (let index = 0; index < line.xs.length; index += 1) {
      const x = line.xs[index]!;
      while (at < xs.length && xs[at]! < x) at += 1;
      const y = ys[index]!;
      if (xs[at] === x) row[at] = Number.isFinite(y) ? y : null;
    }
    return row;
  });
  return { xs, rows };
}

function merged(lines: readonly Line[]): number[] {
  const different = [...new Set(lines.map(({ xs }) => xs))];
  const all = Float64Array.from(different.flatMap((xs) => Array.from(xs)).filter(Number.isFinite)).sort();
  const xs: number[] = [];
  for (const x of all) if (x !== xs[xs.length - 1]) xs.push(x);
  return xs;
}

export interface ValueColumn {
  id: string;
  title: string;
  row: readonly (number | null)[];
}

/** The values that are shown: without hidden lines, and without lines that are only context. */
export function shownColumns(
  figure: { lines: readonly Line[]; hidden: ReadonlySet<string> },
  data: Aligned,
): ValueColumn[] {
  return seriesOf(figure.lines).flatMap(({ line, ys }, index) => {
    if (line.style.faint || line.style.drawnOnly || figure.hidden.has(entryOf(line))) return [];
    const edge = line.lows === undefined ? "" : ys === line.lows ? ", from" : ", to";
    return [{ id: line.id + edge, title: line.label + edge, row: data.rows[index]! }];
  });
}

/** The indices in `xs` that the range contains. */
export function within(xs: readonly number[], range: Range | null): number[] {
  const all = xs.map((_, index) => index);
  return range ? all.filter((index) => xs[index]! >= range.min && xs[index]! <= range.max) : all;
}

/** The value at the greatest x that is not beyond `index`: the crosshair reads it for a series with fewer points. */
export function valueAt(row: readonly (number | null)[], index: number | null): number | null {
  for (let at = index ?? row.length - 1; at >= 0; at -= 1) {
    const value = row[at];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** Each line as a band on top of the lines before it; all have the same xs. */
export function stacked(lines: readonly Line[]): Line[] {
  let below = new Array<number>(lines[0]?.xs.length ?? 0).fill(0);
  return lines.map((line) => {
    const lows = below;
    below = lows.map((low, index) => low + (Number.isFinite(line.ys[index]!) ? line.ys[index]! : 0));
    return { ...line, style: { ...line.style, kind: "band" }, ys: below, lows };
  });
}

export interface Range {
  min: number;
  max: number;
}

/** The range of all values; a single point gets room around it. */
export function extentOf(xs: readonly number[]): Range {
  const min = xs[0] ?? 0;
  const max = xs[xs.length - 1] ?? 1;
  return max > min ? { min, max } : { min: min - 0.5, max: max + 0.5 };
}

/** Whether a logarithmic axis can show every value. */
export const allPositive = (lines: readonly Line[]) =>
  seriesOf(lines).every(({ ys }) => Array.from(ys).every((y) => !Number.isFinite(y) || y > 0));

// uPlot's options for a figure. Each drawing asks `figure()` for what may change without a rebuild: marks, references,
// colours, names of axes.
import uPlot from "uplot";
import { dateTicks } from "../format/date_ticks";
import { niceSeconds } from "../model/time_line";
import { drawMarks, drawReferences } from "./drawing";
import { seriesOf, titleOf, type Axis, type Line, type Mark, type Range, type Reference } from "./line";
import { drawMarkers, isBack } from "./markers";
import { colourOf } from "./palette";
import { durationTicks, linearRange, logarithmicRange, logarithmicTicks, tickLabel } from "./ticks";

export interface Figure {
  lines: readonly Line[];
  references: readonly Reference[];
  marks: readonly Mark[];
  x: Axis;
  y: Axis;
  logarithmic: boolean;
  hidden: ReadonlySet<string>;
  /** The x of all charts of the group, so that crosshairs are above each other; the x of its own lines by default. */
  extent?: Range;
  /** The line that the reader looks at: the others are drawn faintly. */
  lit?: string | null;
  /** The x at which values are drawn larger. */
  litX?: number | null;
}

export interface Events {
  onPick(): void;
  onCursor(index: number | null): void;
  onSelect(min: number, max: number): void;
  onReset(): void;
}

/** Equal for figures that the same plot can show. */
export function structureOf({ lines, x, y, logarithmic }: Figure): string {
  const shapes = lines.map(({ id, colour, style }) => [id, colour, style]);
  return JSON.stringify([shapes, x, y, logarithmic]);
}

const fontSize = 11;

export function plotOptions(
  figure: () => Figure,
  syncKey: string,
  events: Events,
): Omit<uPlot.Options, "width" | "height"> {
  const { lines, x, y, logarithmic } = figure();
  return {
    padding: [18, 26, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: syncKey, scales: ["x", null], filters: { pub: isMove, sub: isMove } },
      y: false,
      points: { size: 7 },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => () => (events.onReset(), null) },
    },
    scales: {
      x: {
        time: false,
        range: (_, low, high) => [low, high],
        ...(x.base === undefined ? {} : { distr: 3, log: x.base }),
      },
      y: {
        range: (_, low, high) => yRange(figure(), low, high),
        ...(logarithmic ? { distr: 3, log: 10 } : {}),
      },
    },
    axes: [xAxis(x), yAxis(y, logarithmic)],
    series: [{}, ...seriesOf(lines).map(({ line, ys }) => seriesOptions(line, ys === line.lows, figure))],
    bands: bandsOf(lines, figure),
    hooks: {
      setCursor: [(plot) => events.onCursor(plot.cursor.idx ?? null)],
      setSelect: [(plot) => tellSelection(plot, events)],
      drawClear: [(plot) => drawMarks(plot, figure().marks, font())],
      draw: [
        (plot) => drawReferences(plot, shownReferences(figure()), figure().y, font()),
        (plot) => drawMarkers(plot, figure(), font()),
      ],
      ready: [(plot) => plot.over.addEventListener("click", () => events.onPick())],
    },
  };
}

const isMove = (type: string) => type === "mousemove" || type === "mouseleave";

const font = () => `${fontSize}px ${colourOf("--font")}`;

const shownReferences = ({ references, hidden }: Figure) => references.filter(({ id }) => !hidden.has(id));

function tellSelection(plot: uPlot, events: Events): void {
  const { left, width } = plot.select;
  if (width <= 0) return;
  const [min, max] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  events.onSelect(min, max);
}

function yRange(figure: Figure, low: number | null, high: number | null): [number, number] {
  const usable = ({ value }: Reference) => Number.isFinite(value) && (!figure.logarithmic || value > 0);
  const values = shownReferences(figure)
    .filter(usable)
    .map(({ value }) => value);
  if (low !== null && high !== null) values.push(low, high);
  if (figure.y.holds) values.push(figure.y.holds.min, figure.y.holds.max);
  for (const { errors, id } of figure.lines)
    if (errors && !figure.hidden.has(id))
      values.push(...[...Array.from(errors.lows), ...Array.from(errors.highs)].filter(Number.isFinite));
  const fromZero = figure.lines.some(({ style }) => style.kind === "bars" || style.kind === "area");
  if (fromZero && !figure.logarithmic) values.push(0);
  if (values.length === 0) return figure.logarithmic ? [1, 10] : [0, 1];
  const range = figure.logarithmic ? logarithmicRange : linearRange;
  const { min, max } = range(Math.min(...values), Math.max(...values));
  return [min, max];
}

function axisOptions(axis: Axis): uPlot.Axis {
  const stroke = () => colourOf("--muted");
  return {
    stroke,
    font: font(),
    label: titleOf(axis),
    labelFont: font(),
    labelGap: 0,
    labelSize: 16,
    grid: { stroke: () => colourOf("--grid"), width: 1 },
    ticks: { show: false },
  };
}

function xAxis(axis: Axis): uPlot.Axis {
  const { ticks } = axis;
  if (ticks) return { ...axisOptions(axis), ...ticksAt(axis, ticks), size: 22, gap: 4 };
  if (axis.numbers === "date") return { ...axisOptions(axis), ...dates, size: 22, gap: 4 };
  return {
    ...axisOptions(axis),
    ...(axis.numbers === "duration" ? { incrs: niceSeconds } : {}),
    space: 64,
    size: 22,
    gap: 4,
    values: (_, ticks) => ticks.map((tick) => tickLabel(axis, tick)),
  };
}

const dateSpace = 70;
const datesOf = (plot: uPlot, min: number, max: number) =>
  dateTicks(min, max, Math.max(3, Math.floor(plot.bbox.width / devicePixelRatio / dateSpace)));

const dates: Partial<uPlot.Axis> = {
  splits: (plot, _, min, max) => datesOf(plot, min, max).map(({ at }) => at),
  filter: (_, ticks) => ticks,
  values: (plot, ticks) => {
    const { min, max } = plot.scales["x"]!;
    const labels = new Map(datesOf(plot, min!, max!).map(({ at, label }) => [at, label]));
    return ticks.map((tick) => labels.get(tick) ?? "");
  },
};

/** Leaves out ticks that would overlap the one before. */
function ticksAt(axis: Axis, ticks: NonNullable<Axis["ticks"]>): Partial<uPlot.Axis> {
  const labelOf = (at: number) => ticks.find((tick) => tick.at === at)?.label ?? tickLabel(axis, at);
  const splits = (plot: uPlot, _: number, min: number, max: number) => {
    const kept: number[] = [];
    let free = -Infinity;
    plot.ctx.save();
    plot.ctx.font = font();
    for (const { at } of ticks.filter((tick) => tick.at >= min && tick.at <= max)) {
      const [place, half] = [plot.valToPos(at, "x"), plot.ctx.measureText(labelOf(at)).width / 2];
      if (place - half < free) continue;
      kept.push(at);
      free = place + half + 6;
    }
    plot.ctx.restore();
    return kept;
  };
  return { splits, filter: (_, all) => all, values: (_, all) => all.map(labelOf) };
}

const tickSpace = 30;

function yAxis(axis: Axis, logarithmic: boolean): uPlot.Axis {
  const splits = (plot: uPlot, _: number, min: number, max: number) =>
    (axis.numbers === "duration" ? durationTicks : logarithmicTicks)(
      min,
      max,
      Math.max(2, Math.floor(plot.bbox.height / devicePixelRatio / tickSpace)),
    );
  return {
    ...axisOptions(axis),
    ...(logarithmic ? { splits, filter: (_: uPlot, ticks: number[]) => ticks } : { space: tickSpace }),
    size: (plot, labels) => widest(plot, labels) + 10,
    gap: 6,
    values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : tickLabel(axis, tick))),
  };
}

function widest(plot: uPlot, labels: string[] | null): number {
  plot.ctx.save();
  plot.ctx.font = font();
  const widths = (labels ?? []).map((label) => plot.ctx.measureText(label).width);
  plot.ctx.restore();
  return Math.ceil(Math.max(18, ...widths));
}

/** More points than this overlap and hide the line. */
const mostDots = 200;

function hasRoomForDots(plot: uPlot, series: number): boolean {
  let count = 0;
  for (const y of plot.data[series]!) if (y !== null && (count += 1) > mostDots) return false;
  return true;
}

function seriesOptions(line: Line, isLowerEdge: boolean, figure: () => Figure): uPlot.Series {
  const { kind, dashed, dots, faint, marker } = line.style;
  const opacity = () => (isBack(line, figure()) ? "22" : faint ? "55" : "");
  const colour = () => `${colourOf(line.colour)}${opacity()}`;
  const filled = kind === "area" || kind === "bars";
  return {
    label: line.label,
    stroke: colour,
    width: kind === "band" ? (isLowerEdge ? 0 : 1) : faint ? 1 : dots ? 2 : 1.5,
    spanGaps: true,
    ...pathsOf(kind),
    ...(dashed ? { dash: [6, 4] } : {}),
    ...(filled ? { fill: () => `${colourOf(line.colour)}${kind === "bars" ? "cc" : "33"}` } : {}),
    points: {
      show: marker === undefined && (kind === "scatter" || (dots === true && hasRoomForDots)),
      size: kind === "scatter" ? 7 : 5,
      fill: colour,
      width: 0,
    },
  };
}

function pathsOf(kind: Line["style"]["kind"]): Pick<uPlot.Series, "paths"> {
  if (kind === "scatter") return { paths: () => null };
  if (kind === "steps") return { paths: uPlot.paths.stepped!({ align: 1 }) };
  if (kind === "bars") return { paths: uPlot.paths.bars!({ size: [0.7, 48] }) };
  return {};
}

function bandsOf(lines: readonly Line[], figure: () => Figure): uPlot.Band[] {
  const bands: uPlot.Band[] = [];
  seriesOf(lines).forEach(({ line, ys }, index) => {
    if (ys === line.lows)
      bands.push({
        series: [index, index + 1],
        fill: () => `${colourOf(line.colour)}${isBack(line, figure()) ? "11" : "44"}`,
      });
  });
  return bands;
}

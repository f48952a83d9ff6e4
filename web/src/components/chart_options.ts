// How a chart looks: uPlot's options from our series, axes and theme. Colours come from the style sheet's variables.
import type uPlot from "uplot";
import type { Mark } from "../model/charts";
import { formatPlain } from "../model/numbers";
import { formatDuration } from "../model/times";
import type { XAxis } from "../model/series";
import { niceSeconds } from "../model/time_line";

export interface Curve {
  key: string;
  colour: string;
  points: boolean;
  /** The unsmoothed curve, drawn faintly behind. */
  faint: boolean;
  shown: boolean;
}

export interface ChartLook {
  curves: Curve[];
  axis: XAxis;
  logarithmic: boolean;
  marks: Mark[];
  target: number | null;
  onCursor(index: number | null): void;
  onZoom(zoomed: boolean): void;
}

interface Palette {
  text: string;
  grid: string;
  mark: string;
  target: string;
  font: string;
}

export const seriesColours = 8;

export function cssVariable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function readPalette(): Palette {
  return {
    text: cssVariable("--muted"),
    grid: cssVariable("--grid"),
    mark: cssVariable("--muted"),
    target: cssVariable("--good"),
    font: `11px ${cssVariable("--font")}`,
  };
}

export function chartOptions(look: ChartLook, width: number, height: number): uPlot.Options {
  const palette = readPalette();
  const axis = {
    stroke: palette.text,
    font: palette.font,
    grid: { stroke: palette.grid, width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    padding: [14, 18, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: "job", scales: ["x", null] },
      y: false,
      points: { size: 7 },
      drag: { x: true, y: false },
    },
    scales: { x: { time: false }, y: yScale(look) },
    axes: [
      {
        ...axis,
        ...(look.axis === "time" ? { incrs: niceSeconds, space: 64 } : {}),
        size: 26,
        gap: 4,
        values: (_, ticks) => ticks.map((tick) => xLabel(look.axis, tick)),
      },
      {
        ...axis,
        size: 56,
        gap: 6,
        values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : formatPlain(tick))),
      },
    ],
    series: [{}, ...look.curves.map(curveOptions)],
    hooks: {
      setCursor: [(plot) => look.onCursor(plot.cursor.idx ?? null)],
      setSelect: [(plot) => plot.select.width > 0 && look.onZoom(true)],
      drawClear: [(plot) => drawMarks(plot, look.marks, palette)],
      draw: [(plot) => look.target !== null && drawTarget(plot, look.target, palette)],
    },
  };
}

function yScale(look: ChartLook): uPlot.Scale {
  if (look.logarithmic) return { distr: 3, log: 10 };
  return {
    range: (_, low, high) => {
      const from = look.target === null ? low : Math.min(low ?? look.target, look.target);
      const to = look.target === null ? high : Math.max(high ?? look.target, look.target);
      const margin = (to - from || Math.abs(to) || 1) * 0.06;
      const floor = from >= 0 && from - margin < 0 ? 0 : from - margin;
      return [floor, to + margin];
    },
  };
}

function curveOptions(curve: Curve): uPlot.Series {
  const colour = curve.faint ? `${curve.colour}55` : curve.colour;
  return {
    label: curve.key,
    stroke: colour,
    width: curve.points ? 2 : curve.faint ? 1 : 1.5,
    spanGaps: true,
    show: curve.shown,
    points: { show: curve.points, size: 5, fill: colour, width: 0 },
  };
}

function xLabel(axis: XAxis, tick: number): string {
  if (axis === "time") return formatDuration(tick);
  return tick >= 10_000 ? `${formatPlain(tick / 1000)}k` : formatPlain(tick);
}

function drawMarks(plot: uPlot, marks: readonly Mark[], palette: Palette): void {
  const { ctx, bbox } = plot;
  ctx.save();
  prepare(ctx, palette.mark, palette);
  for (const mark of marks) {
    const x = Math.round(plot.valToPos(mark.x, "x", true));
    if (!(x >= bbox.left) || x > bbox.left + bbox.width) continue;
    line(ctx, x, bbox.top, x, bbox.top + bbox.height);
    const room = bbox.left + bbox.width - x;
    ctx.textAlign = room < 80 * devicePixelRatio ? "right" : "left";
    ctx.fillText(
      mark.label,
      x + (ctx.textAlign === "left" ? 4 : -4) * devicePixelRatio,
      bbox.top - 13 * devicePixelRatio,
    );
  }
  ctx.restore();
}

function drawTarget(plot: uPlot, target: number, palette: Palette): void {
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(target, "y", true));
  if (!(y >= bbox.top && y <= bbox.top + bbox.height)) return;
  ctx.save();
  prepare(ctx, palette.target, palette);
  line(ctx, bbox.left, y, bbox.left + bbox.width, y);
  ctx.textBaseline = "bottom";
  ctx.fillText(`target ${formatPlain(target)}`, bbox.left + 6 * devicePixelRatio, y - 2 * devicePixelRatio);
  ctx.restore();
}

function prepare(ctx: CanvasRenderingContext2D, colour: string, palette: Palette): void {
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.font = palette.font.replace("11px", `${11 * devicePixelRatio}px`);
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

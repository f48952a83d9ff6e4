// What is drawn beside the curves: marks where something began, and values to compare with.
import type uPlot from "uplot";
import { formatPlain } from "../format/numbers";
import { valueText, type Axis, type Mark, type Reference } from "./line";
import { colourOf } from "./palette";

/** A label that would overlap the one before it is left out. Its line is drawn. */
export function drawMarks(plot: uPlot, marks: readonly Mark[], font: string): void {
  const { ctx, bbox } = plot;
  const [left, right] = [bbox.left, bbox.left + bbox.width];
  ctx.save();
  prepare(ctx, colourOf("--muted"), font);
  let free = left;
  for (const mark of marks) {
    const x = Math.round(plot.valToPos(mark.x, "x", true));
    if (!(x >= left && x <= right)) continue;
    line(ctx, x, bbox.top, x, bbox.top + bbox.height);
    const width = ctx.measureText(mark.label).width;
    const start = Math.min(x + 4 * devicePixelRatio, right - width);
    if (start < free) continue;
    ctx.fillText(mark.label, start, bbox.top - 13 * devicePixelRatio);
    free = start + width + 8 * devicePixelRatio;
  }
  ctx.restore();
}

const labelHeight = 14;

/** A label that would overlap another is left out. Its line is drawn, and the legend names it. */
export function drawReferences(plot: uPlot, references: readonly Reference[], y: Axis, font: string): void {
  const { ctx, bbox } = plot;
  const written: number[] = [];
  ctx.save();
  for (const { label, value, colour } of references) {
    const at = Math.round(plot.valToPos(value, "y", true));
    if (!(at >= bbox.top && at <= bbox.top + bbox.height)) continue;
    prepare(ctx, colourOf(colour), font);
    line(ctx, bbox.left, at, bbox.left + bbox.width, at);
    const below = at - bbox.top < 16 * devicePixelRatio;
    const place = at + (below ? labelHeight * devicePixelRatio : 0);
    if (written.some((other) => Math.abs(other - place) < labelHeight * devicePixelRatio)) continue;
    written.push(place);
    ctx.textBaseline = below ? "top" : "bottom";
    writeOver(
      ctx,
      `${label} ${y.numbers === "plain" ? formatPlain(value) : valueText(y, value)}`,
      bbox.left + bbox.width - 4 * devicePixelRatio,
      at + (below ? 3 : -2) * devicePixelRatio,
    );
  }
  ctx.restore();
}

/** The text ends at `x` and is readable on top of curves. */
function writeOver(ctx: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  ctx.setLineDash([]);
  ctx.textAlign = "right";
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.strokeStyle = colourOf("--panel");
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}

function prepare(ctx: CanvasRenderingContext2D, colour: string, font: string): void {
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.font = font.replace(/^\d+/, (size) => String(Number(size) * devicePixelRatio));
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

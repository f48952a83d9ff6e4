// The markers, whiskers and texts of lines that have few values.
import type uPlot from "uplot";
import { entryOf, type Line, type Marker } from "./line";
import { colourOf } from "./palette";
import type { Figure } from "./plot_options";

const size = 4;

/** The reader looks at another line. */
export const isBack = (line: Line, { lit }: Figure) => lit != null && entryOf(line) !== lit;

export function drawMarkers(plot: uPlot, figure: Figure, font: string): void {
  const { ctx } = plot;
  ctx.save();
  ctx.font = font.replace(/^\d+/, (pixels) => String(Number(pixels) * devicePixelRatio));
  ctx.textAlign = "center";
  for (const line of figure.lines) {
    const { marker } = line.style;
    if (marker === undefined || figure.hidden.has(entryOf(line))) continue;
    ctx.globalAlpha = isBack(line, figure) ? 0.2 : 1;
    drawLine(plot, line, marker, figure.litX ?? null);
  }
  ctx.restore();
}

function drawLine(plot: uPlot, line: Line, marker: Marker, litX: number | null): void {
  const { ctx, bbox } = plot;
  ctx.strokeStyle = ctx.fillStyle = colourOf(line.colour);
  const yOf = (value: number) => plot.valToPos(value, "y", true);
  for (let index = 0; index < line.xs.length; index += 1) {
    const x = plot.valToPos(line.xs[index]!, "x", true);
    const y = yOf(line.ys[index]!);
    if (!(x >= bbox.left - 1 && x <= bbox.left + bbox.width + 1) || !Number.isFinite(y)) continue;
    const [low, high] = [line.errors?.lows[index], line.errors?.highs[index]];
    if (low !== undefined && high !== undefined && high > low) whisker(ctx, x, yOf(low), yOf(high));
    drawMarker(ctx, marker, x, y, (size + (line.xs[index] === litX ? 3 : 0)) * devicePixelRatio);
    const note = line.notes?.[index];
    if (note) write(plot, note, x, y);
  }
}

function whisker(ctx: CanvasRenderingContext2D, x: number, low: number, high: number): void {
  const half = 3 * devicePixelRatio;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (const y of [low, high]) {
    ctx.moveTo(x - half, y);
    ctx.lineTo(x + half, y);
  }
  ctx.moveTo(x, low);
  ctx.lineTo(x, high);
  ctx.stroke();
}

function drawMarker(ctx: CanvasRenderingContext2D, marker: Marker, x: number, y: number, radius: number) {
  ctx.beginPath();
  if (marker === "diamond") {
    const reach = radius * 1.25;
    ctx.moveTo(x, y - reach);
    for (const [right, down] of [
      [reach, 0],
      [0, reach],
      [-reach, 0],
    ] as const)
      ctx.lineTo(x + right, y + down);
    ctx.closePath();
  } else ctx.arc(x, y, radius, 0, 2 * Math.PI);
  if (marker !== "ring") return ctx.fill();
  const colour = ctx.fillStyle;
  ctx.fillStyle = colourOf("--panel");
  ctx.fill();
  ctx.fillStyle = colour;
  ctx.lineWidth = 2 * devicePixelRatio;
  return ctx.stroke();
}

/** Above the value, or below it if there is no room; within the plot. */
function write(plot: uPlot, text: string, x: number, y: number): void {
  const { ctx, bbox } = plot;
  const colour = ctx.fillStyle;
  const half = ctx.measureText(text).width / 2;
  const place = Math.max(bbox.left + half, Math.min(bbox.left + bbox.width - half, x));
  const gap = 9 * devicePixelRatio;
  const above = y - bbox.top > 22 * devicePixelRatio;
  ctx.textBaseline = above ? "bottom" : "top";
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.strokeStyle = colourOf("--panel");
  ctx.fillStyle = colourOf("--text");
  ctx.strokeText(text, place, above ? y - gap : y + gap);
  ctx.fillText(text, place, above ? y - gap : y + gap);
  ctx.fillStyle = ctx.strokeStyle = colour;
}

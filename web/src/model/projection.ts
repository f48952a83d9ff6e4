// The forecast of when a running job reaches its target: as a sentence, and as a band beside the curve. Pure.
import { type Projection, fromWire } from "../api/types";
import { formatCount } from "../format/numbers";
import { formatDuration } from "../format/times";
import type { Point, XAxis } from "./series";

/** Below these odds the sentence says that the job will probably not reach its target. */
const likely = 0.5;

const inText = (timeMs: number, nowMs: number) =>
  timeMs - nowMs < 1000 ? "now" : formatDuration((timeMs - nowMs) / 1000);

/** "" if the job has no target. */
export function projectionSentence(
  { metric, step, time_ms, reaches, ends_ms, doubt }: Projection,
  nowMs: number,
) {
  if (metric === null) return "";
  if (doubt !== "") return `It is not known yet when the job reaches its target: ${doubt}.`;
  const odds = `${Math.round(100 * reaches)} %`;
  const left = ends_ms === null || ends_ms - nowMs < 1000 ? "" : ` in ${inText(ends_ms, nowMs)}`;
  const end = `before its training ends${left}`;
  if (step.p50 === null || time_ms.p50 === null) {
    const rarely =
      reaches < likely ? "The job will probably not reach its target" : "The job may reach its target";
    return `${rarely} ${end}: the odds are ${odds}.`;
  }
  const early = time_ms.p10 === null ? "now" : inText(time_ms.p10, nowMs);
  const late = time_ms.p90 === null ? "after its end" : inText(time_ms.p90, nowMs);
  const half = inText(time_ms.p50, nowMs);
  const when = half === "now" ? "any moment" : `in ${half}`;
  const range = time_ms.p90 === null ? `from ${early} on, or not at all` : `between ${early} and ${late}`;
  return (
    `The job should reach its target ${when}, at step ${formatCount(step.p50)}; ` +
    `8 of 10 times ${range}. The odds that it does so ${end} are ${odds}.`
  );
}

export interface Fan {
  xs: number[];
  p10: number[];
  p50: number[];
  p90: number[];
}

export interface FanPlace {
  axis: XAxis;
  startMs: number;
  /** The step after which the training ends. */
  steps: number;
}

/** It begins at the last point. Null if there is no forecast, or on the wall-clock axis if the pace is not known. */
export function fanOf(projection: Projection, points: readonly Point[], place: FanPlace): Fan | null {
  const last = points.at(-1);
  if (!last || !Number.isFinite(last.value) || projection.fan.length === 0) return null;
  const { ends_ms: ends } = projection;
  if (place.axis === "time" && (ends === null || place.steps <= last.step)) return null;
  const pace = ends === null ? 0 : (ends - last.timeMs) / (place.steps - last.step);
  const xOf = (step: number) =>
    place.axis === "step" ? step : (last.timeMs + (step - last.step) * pace - place.startMs) / 1000;
  const ahead = projection.fan.filter(([step]) => step > last.step);
  const quantile = (index: 1 | 2 | 3) => [last.value, ...ahead.map((each) => fromWire(each[index]))];
  return {
    xs: [last.step, ...ahead.map(([step]) => step)].map(xOf),
    p10: quantile(1),
    p50: quantile(2),
    p90: quantile(3),
  };
}

/** The measured curve keeps at least this part of the chart. */
const leastPast = 0.4;

/** Where the axis ends. */
export const endWithFan = ({ xs }: Fan, range: { min: number; max: number }): number =>
  Math.max(range.max, Math.min(xs.at(-1)!, range.min + (range.max - range.min) / leastPast));

// Attempts as bars on one time axis: when each ran, how it ended, and the gaps between them.
import type { Attempt, JobEvent } from "../api/types";

export interface Bar {
  attempt: Attempt;
  /** Fractions of the axis. */
  left: number;
  width: number;
  /** The part of the bar before its processes had started. */
  startingWidth: number;
}

export interface Checkpoint {
  left: number;
  timeMs: number;
}

export interface TimeLine {
  fromMs: number;
  toMs: number;
  bars: Bar[];
  checkpoints: Checkpoint[];
  ticks: { left: number; seconds: number }[];
  /** Seconds in which no attempt ran, between the first start and the end. */
  gapSeconds: number;
}

/** Distances between ticks that are easy to read, up to four weeks. */
export const niceSeconds = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 4, 6, 12].map((hours) => hours * 3600),
  ...[1, 2, 7, 14, 28].map((days) => days * 86_400),
];

const tickStep = (span: number) => niceSeconds.find((step) => span / step <= 8) ?? span / 8;

export function layOut(
  attempts: readonly Attempt[],
  events: readonly JobEvent[],
  endMs: number,
): TimeLine | null {
  const first = attempts[0];
  if (!first) return null;
  const fromMs = first.created_ms;
  const toMs = Math.max(endMs, ...attempts.map((attempt) => attempt.ended_ms ?? 0), fromMs + 1000);
  const place = (ms: number) => Math.max(0, Math.min(1, (ms - fromMs) / (toMs - fromMs)));
  const bars = attempts.map((attempt) => {
    const left = place(attempt.created_ms);
    const right = place(attempt.ended_ms ?? endMs);
    const started = attempt.started_ms === null ? right : place(attempt.started_ms);
    return { attempt, left, width: right - left, startingWidth: Math.min(started, right) - left };
  });
  const span = (toMs - fromMs) / 1000;
  const step = tickStep(span);
  const ticks = [];
  for (let seconds = 0; seconds <= span; seconds += step) ticks.push({ left: seconds / span, seconds });
  return { fromMs, toMs, bars, checkpoints: checkpointsOf(events, place), ticks, gapSeconds: gaps(attempts) };
}

function checkpointsOf(events: readonly JobEvent[], place: (ms: number) => number): Checkpoint[] {
  return events
    .filter((event) => event.type === "checkpoint_saved")
    .map((event) => ({ left: place(event.time_ms), timeMs: event.time_ms }));
}

/** Ticks closer than this to the one before would merge into a bar. */
const closest = 0.008;

/** The checkpoints of one bar to draw; the newest is always among them. */
export function spaced(checkpoints: readonly Checkpoint[]): Checkpoint[] {
  const kept: Checkpoint[] = [];
  for (const checkpoint of [...checkpoints].reverse()) {
    const last = kept[kept.length - 1];
    if (!last || last.left - checkpoint.left >= closest) kept.push(checkpoint);
  }
  return kept.reverse();
}

function gaps(attempts: readonly Attempt[]): number {
  let total = 0;
  for (let index = 1; index < attempts.length; index += 1) {
    const ended = attempts[index - 1]!.ended_ms;
    if (ended !== null) total += Math.max(0, attempts[index]!.created_ms - ended);
  }
  return total / 1000;
}

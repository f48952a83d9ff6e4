// Where the ticks of an axis are, and how wide the y axis must be for them.
import { formatPlain } from "../format/numbers";
import { formatDuration } from "../format/times";
import { niceSeconds } from "../model/time_line";
import type { Axis, Range } from "./line";

/** Adds room around the values, and begins at 0 if the values are close to it. */
export function linearRange(low: number, high: number): Range {
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  const floor = low >= 0 && low - margin < 0 ? 0 : low - margin;
  return { min: floor, max: high + margin };
}

export function logarithmicRange(low: number, high: number): Range {
  const factor = Math.max(1.05, (high / low) ** 0.05);
  return { min: low / factor, max: high * factor };
}

const fewest = 3;

/** Powers of ten, or those with 2 and 5 between, or even steps where the range is narrow; at most `most`. */
export function logarithmicTicks(min: number, max: number, most: number): number[] {
  const from = Math.floor(Math.log10(min));
  const to = Math.ceil(Math.log10(max));
  const within = (tick: number) => tick >= min && tick <= max;
  const decades = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  const fine = decades.flatMap((decade) => [1, 2, 5].map((digit) => round(digit * decade))).filter(within);
  if (fine.length >= fewest && fine.length <= most) return fine;
  const whole = decades.map(round).filter(within);
  if (whole.length >= fewest) return whole.filter((_, index) => index % Math.ceil(whole.length / most) === 0);
  return fine.length > most ? whole : evenTicks(min, max, most);
}

function evenTicks(min: number, max: number, most: number): number[] {
  const rough = (max - min) / Math.max(2, most - 1);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5, 10].find((digit) => digit * unit >= rough) ?? 10);
  const ticks = [];
  for (let tick = Math.ceil(min / step) * step; tick <= max; tick += step) ticks.push(round(tick));
  return ticks;
}

/** Durations that are easy to read, at most `most` of them; even steps if the range is narrow. */
export function durationTicks(min: number, max: number, most: number): number[] {
  const nice = niceSeconds.filter((seconds) => seconds >= min && seconds <= max);
  if (nice.length < fewest) return logarithmicTicks(min, max, most);
  return nice.filter((_, index) => index % Math.ceil(nice.length / most) === 0);
}

const round = (value: number) => Number(value.toPrecision(12));

/** Ticks are round numbers, so thousands are short enough. */
export function tickLabel(axis: Axis, tick: number): string {
  if (axis.numbers === "duration") return formatDuration(tick);
  return Math.abs(tick) >= 10_000 && Math.abs(tick) < 1e9
    ? tick >= 1_000_000
      ? `${formatPlain(tick / 1_000_000)}M`
      : `${formatPlain(tick / 1000)}k`
    : formatPlain(tick);
}

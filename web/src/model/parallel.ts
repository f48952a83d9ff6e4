// A sweep as parallel coordinates: an axis for each swept parameter and one for the result, a line for each trial. Positions
// are from 0 at the bottom of an axis to 1. Pure.
import { formatNumber, formatPlain } from "../format/numbers";
import { outcomeText } from "./comparison";
import { shortPath } from "./study";
import { placeOn, shareOfBest, type Result, type SweptAxis, type Trial } from "./sweep";

export interface ParallelAxis {
  /** The whole name, and the short one over the axis. */
  name: string;
  title: string;
  ticks: { at: number; label: string }[];
}

export interface ParallelLine {
  trial: Trial;
  at: number[];
  /** "lr 0.001, batch 64: loss 2.31". */
  text: string;
  /** From 0 for the worst to 1 for the best; null if it is not known which is better. */
  share: number | null;
}

export interface Parallel {
  axes: ParallelAxis[];
  /** The best last, so that it is drawn over the others. */
  lines: ParallelLine[];
  /** The number of trials that lack the result or one of the values. */
  without: number;
}

/** Up to this many values, each has a tick. */
const mostTicks = 7;
const tickSteps = 4;
/** Labels closer than this would overlap. */
const leastGap = 0.065;

type Scale = (value: number) => number;

function scaleOf(min: number, max: number, logarithmic: boolean): Scale {
  if (min === max) return () => 0.5;
  const bend = logarithmic ? Math.log : (value: number) => value;
  return (value) => (bend(value) - bend(min)) / (bend(max) - bend(min));
}

const spread = (min: number, max: number, logarithmic: boolean) =>
  Array.from({ length: tickSteps + 1 }, (_, step) => step / tickSteps).map((share) =>
    logarithmic ? min * (max / min) ** share : min + (max - min) * share,
  );

/** The ends come first, because they must stay. */
function legible(ticks: ParallelAxis["ticks"]): ParallelAxis["ticks"] {
  const kept: ParallelAxis["ticks"] = [];
  const byImportance = [...ticks].sort((a, b) => Math.abs(b.at - 0.5) - Math.abs(a.at - 0.5));
  for (const tick of byImportance)
    if (kept.every(({ at }) => Math.abs(at - tick.at) >= leastGap)) kept.push(tick);
  return kept.sort((a, b) => a.at - b.at);
}

interface Placed extends ParallelAxis {
  placeOf(trial: Trial): number | null;
}

function sweptAxis(axis: SweptAxis): Placed {
  const { path, values, numeric, logarithmic } = axis;
  const numbers = numeric ? (values as number[]) : values.map((_, place) => place);
  const [min, max] = [numbers[0]!, numbers.at(-1)!];
  const scale = scaleOf(min, max, logarithmic);
  const few = values.length <= mostTicks || !numeric;
  const ticks = few
    ? values.map((value, place) => ({
        at: scale(numbers[place]!),
        label: numeric ? formatPlain(value as number, 4) : String(value),
      }))
    : spread(min, max, logarithmic).map((value) => ({ at: scale(value), label: formatPlain(value, 2) }));
  return {
    name: path,
    title: shortPath(path),
    ticks: legible(ticks),
    placeOf: ({ member }) => {
      const place = placeOn(axis, member);
      return place === null ? null : scale(place);
    },
  };
}

/** The better end is at the top. */
function resultAxis({ name, outcome }: Result, trials: readonly Trial[]): Placed {
  const values = trials.flatMap(({ value }) => value ?? []);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const logarithmic = min > 0 && max / min >= 10;
  const rising = scaleOf(min, max, logarithmic);
  const scale: Scale = outcome.better === "less" ? (value) => 1 - rising(value) : rising;
  const isPlain = outcome.measure === "best" || outcome.measure === "final" || outcome.measure === "median";
  const ticks = (min === max ? [min] : spread(min, max, logarithmic)).map((value) => ({
    at: scale(value),
    label: isPlain ? formatNumber(value, 3) : outcomeText(outcome, value),
  }));
  return {
    ...{ name, title: name, ticks: legible(ticks) },
    placeOf: ({ value }) => (value === null ? null : scale(value)),
  };
}

function textOf(axes: readonly SweptAxis[], { member, value }: Trial, result: Result): string {
  const settings = axes.map(({ path }) => {
    const setting = member.parameters[path];
    return `${shortPath(path)} ${typeof setting === "number" ? formatPlain(setting, 6) : String(setting)}`;
  });
  return `${settings.join(", ")}: ${result.name} ${outcomeText(result.outcome, value)}`;
}

export function parallelOf(swept: readonly SweptAxis[], trials: readonly Trial[], result: Result): Parallel {
  const placed = [...swept.map(sweptAxis), resultAxis(result, trials)];
  const known = result.outcome.better !== null;
  const lines = trials.flatMap((trial): ParallelLine[] => {
    const at = placed.flatMap((axis) => axis.placeOf(trial) ?? []);
    if (at.length < placed.length) return [];
    const share = known ? shareOfBest(trial.value!, trials) : null;
    return [{ trial, at, share, text: textOf(swept, trial, result) }];
  });
  return {
    axes: placed.map(({ name, title, ticks }) => ({ name, title, ticks })),
    lines: lines.reverse(),
    without: trials.length - lines.length,
  };
}

// The result of a sweep: its trials in order, and the result over each swept parameter. Pure.
import type { ComparedOutcome, Comparison, Study, StudyMember } from "../api/types";
import { numberOf, outcomeName } from "./comparison";

/** The coordinator compares no more jobs at once. */
export const trialsAtOnce = 50;
/** Of a larger sweep, only the first trials are read. */
export const mostTrials = 200;

export interface Result {
  name: string;
  outcome: ComparedOutcome;
  /** The values by job. */
  values: ReadonlyMap<number, number>;
}

/** The results of all parts, each in the place of its first appearance. */
export function resultsOf(parts: readonly Comparison[]): Result[] {
  const results = new Map<string, { outcome: ComparedOutcome; values: Map<number, number> }>();
  for (const { jobs, outcomes } of parts)
    for (const outcome of outcomes) {
      const name = outcomeName(outcome);
      const result = results.get(name) ?? { outcome, values: new Map<number, number>() };
      outcome.values.forEach((value, index) => {
        const number = numberOf(value);
        if (number !== null && Number.isFinite(number)) result.values.set(jobs[index]!.id, number);
      });
      results.set(name, result);
    }
  return [...results].map(([name, result]) => ({ name, ...result }));
}

/** The first result of which it is known which value is better: the target's, if there is one. */
export const usualResult = (results: readonly Result[]): Result | undefined =>
  results.find(({ outcome }) => outcome.better !== null) ?? results[0];

export interface Trial {
  member: StudyMember;
  value: number | null;
  /** From 1; null without a result, or if it is not known which is better. */
  rank: number | null;
}

/** The best first if it is known which is better. Trials without a result are last. */
export function ranked(members: readonly StudyMember[], result: Result | undefined): Trial[] {
  const better = result?.outcome.better ?? null;
  const sign = better === "more" ? -1 : 1;
  const trials = members.map((member) => ({ member, value: result?.values.get(member.job) ?? null }));
  const sorted = [...trials].sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return better === null ? a.member.job - b.member.job : sign * (a.value - b.value);
  });
  return sorted.map((trial, index) => ({
    ...trial,
    rank: trial.value === null || better === null ? null : index + 1,
  }));
}

export interface SweptAxis {
  path: string;
  /** The distinct values: numbers in ascending order, others in the order of the jobs. */
  values: unknown[];
  numeric: boolean;
  /** The values are numbers over more than a factor of ten. */
  logarithmic: boolean;
}

const keyOf = (value: unknown) => JSON.stringify(value);

/** The parameters with more than one value. */
export function sweptAxes({ members }: Pick<Study, "members">): SweptAxis[] {
  const paths = [...new Set(members.flatMap(({ parameters }) => Object.keys(parameters)))];
  return paths.flatMap((path) => {
    const byKey = new Map<string, unknown>();
    for (const { parameters } of members)
      if (path in parameters) byKey.set(keyOf(parameters[path]), parameters[path]);
    const values = [...byKey.values()];
    if (values.length < 2) return [];
    const numbers = values.filter((value): value is number => typeof value === "number");
    const numeric = numbers.length === values.length;
    if (numeric) numbers.sort((a, b) => a - b);
    const logarithmic = numeric && numbers[0]! > 0 && numbers.at(-1)! / numbers[0]! >= 10;
    return [{ path, values: numeric ? numbers : values, numeric, logarithmic }];
  });
}

/** Where a trial is on the axis: its number, or the index of its value. */
export function placeOn({ path, values, numeric }: SweptAxis, { parameters }: StudyMember): number | null {
  if (!(path in parameters)) return null;
  const value = parameters[path];
  return numeric ? Number(value) : values.findIndex((each) => keyOf(each) === keyOf(value));
}

export interface Cell {
  /** The mean of the trials in this cell. */
  value: number;
  jobs: number[];
}

/** Two parameters as a grid: a row for each value of the first, a column for each value of the second. */
export function gridOf(
  [down, across]: readonly [SweptAxis, SweptAxis],
  trials: readonly Trial[],
): (Cell | null)[][] {
  const has = (axis: SweptAxis, trial: Trial, value: unknown) =>
    keyOf(trial.member.parameters[axis.path]) === keyOf(value);
  return down.values.map((row) =>
    across.values.map((column) => {
      const there = trials.filter(
        (trial) => trial.value !== null && has(down, trial, row) && has(across, trial, column),
      );
      if (there.length === 0) return null;
      const sum = there.reduce((total, { value }) => total + value!, 0);
      return { value: sum / there.length, jobs: there.map(({ member }) => member.job) };
    }),
  );
}

/** Where a value lies between the worst and the best, from 0 to 1. */
export function shareOfBest(value: number, trials: readonly Trial[]): number {
  const values = trials.flatMap((trial) => (trial.value === null ? [] : [trial.value]));
  const [best, worst] = [values[0]!, values.at(-1)!];
  return best === worst ? 1 : Math.abs(value - worst) / Math.abs(best - worst);
}

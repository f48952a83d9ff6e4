// What a comparison of jobs shows. Pure.
import { type ComparedField, type ComparedOutcome, type Comparison, type Job, fromWire } from "../api/types";
import { formatAmount, formatCount, formatJoules, formatNumber, formatPlain } from "../format/numbers";
import { formatDuration } from "../format/times";
import type { CompareAxis } from "./compare_address";
import { byStep, type Point } from "./series";

/** Moves a job one place up (-1) or down (1); at an end nothing changes. */
export function moved(jobs: readonly number[], id: number, by: -1 | 1): number[] {
  const from = jobs.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= jobs.length) return [...jobs];
  const next = jobs.filter((job) => job !== id);
  next.splice(to, 0, id);
  return next;
}

/** The length of the common beginning of all texts, up to the end of a word. */
function commonLength(texts: readonly string[]): number {
  const [first = "", ...rest] = texts;
  if (rest.length === 0) return 0;
  let length = first.length;
  for (const text of rest) {
    let at = 0;
    while (at < length && at < text.length && text[at] === first[at]) at += 1;
    length = at;
  }
  if (rest.every((text) => text === first)) return first.length;
  while (length > 0 && !/[\s/,\-_.:[]/.test(first[length - 1]!)) length -= 1;
  return length;
}

/** The common beginning, and the rest of each text. */
export function apart(texts: readonly string[]): { common: string; rests: string[] } {
  const length = commonLength(texts);
  return { common: texts[0]?.slice(0, length) ?? "", rests: texts.map((text) => text.slice(length)) };
}

/** In `pattern`, * stands for any text. A pattern without * matches a part of the name; "" matches all. */
export function matchesPattern(pattern: string, name: string): boolean {
  const wanted = pattern.trim().toLowerCase();
  if (!wanted.includes("*")) return name.toLowerCase().includes(wanted);
  return matchesWhole(wanted, name.toLowerCase());
}

/**
 * The same algorithm as the coordinator's (coordinator/tracking/comparison.cc): it goes back to the last * only, so
 * that no pattern takes long.
 */
function matchesWhole(pattern: string, name: string): boolean {
  let [p, n, star, taken] = [0, 0, -1, 0];
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p;
      p += 1;
      taken = n;
    } else if (pattern[p] === name[n]) {
      p += 1;
      n += 1;
    } else if (star >= 0) {
      taken += 1;
      p = star + 1;
      n = taken;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(p));
}

const measures: Record<ComparedOutcome["measure"], string> = {
  best: "best",
  final: "final",
  median: "median",
  time_to_train: "Time to train",
  run_time: "Run time",
  device_time: "Device hours",
  restarts: "Restarts",
  energy: "Energy",
  energy_to_target: "Energy to target",
  cost: "Cost",
  cost_to_target: "Cost to target",
};

export const outcomeName = ({ measure, metric }: ComparedOutcome) =>
  metric === "" ? measures[measure] : `${metric} ${measures[measure]}`;

/** What makes a value of the row the better one, in words. */
export function outcomeRule({ measure, metric, better, better_by: by }: ComparedOutcome): string {
  if (better === null) return "Neither a target nor its name says which value is better";
  const which = better === "less" ? "Less is better" : "More is better";
  if (by === "target") return `${which}: the target says so`;
  if (by === "name") return `${which}, judging by its name; no target says so`;
  if (measure === "median")
    return `Median of ${metric}; beyond 512 points, the median of 16 runs of 32 points, spread evenly over the steps. ${which}`;
  const cost = "a job that was not trained is never the best";
  if (measure === "device_time") return `Devices × the time for which attempts held them. ${which}; ${cost}`;
  if (measure === "time_to_train") return "From the first start to the target, restarts included";
  return `${which}; ${cost}`;
}

/** `currency`: for costs. */
export function outcomeText({ measure }: ComparedOutcome, value: number | null, currency = ""): string {
  if (value === null) return "–";
  if (measure === "time_to_train" || measure === "run_time") return formatDuration(value);
  if (measure === "device_time") return formatNumber(value / 3600, 3);
  if (measure === "energy" || measure === "energy_to_target") return formatJoules(value);
  if (measure === "cost" || measure === "cost_to_target") return formatAmount(value, currency);
  return measure === "restarts" ? String(value) : formatNumber(value);
}

/** "−3.1 %", or "×57" for more than ten times as much; "" if there is no difference. */
export function differenceText(share: number | null): string {
  if (share === null || share === 0 || !Number.isFinite(share)) return "";
  if (share > 9) return `×${formatCount(Math.round(1 + share))}`;
  const percent = Math.abs(share * 100);
  const digits = percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0;
  return `${share < 0 ? "−" : "+"}${percent.toFixed(digits)} %`;
}

export const numberOf = (value: number | string | null | undefined): number | null =>
  value == null ? null : fromWire(value as never);

/** A commit is shown by its beginning. */
export function fieldText({ key, section }: ComparedField, value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return formatPlain(value, 12);
  if (typeof value !== "string") return JSON.stringify(value);
  const isCommit = key === "commit" ? section === "source" : key.endsWith(".commit");
  return isCommit ? value.slice(0, 12) : value;
}

const longValue = 18;

export interface FieldValue {
  /** The common beginning of the values of all jobs, if values are long. */
  common: string;
  own: string;
}

export function fieldValues(field: ComparedField): FieldValue[] {
  const texts = field.values.map((value) => fieldText(field, value));
  const { common, rests } = apart(texts);
  const tell = field.differs && common.length > 0 && texts.some((text) => text.length > longValue);
  return texts.map((text, index) => (tell ? { common, own: rests[index]! } : { common: "", own: text }));
}

/** What the reader must know before comparing a job's figures. */
export function marksOf(job: Job, comparison: Comparison): string[] {
  const source = comparison.sources[comparison.jobs.findIndex(({ id }) => id === job.id)];
  return [
    ...(job.started_ms !== null && job.ended_ms === null ? ["so far"] : []),
    ...(job.restarts > 0 ? [`restarted ${job.restarts}×`] : []),
    ...(comparison.artificial.includes(job.id) ? ["artificial devices"] : []),
    ...(source?.dirty ? ["uncommitted changes"] : []),
  ];
}

/** Metrics in the order of their charts: those of targets, then of evaluations, then of training. */
export function chartKeys({ metrics, jobs }: Comparison, pattern: string): string[] {
  const targets = new Set(jobs.map(({ target }) => target?.metric));
  const rank = (key: string) =>
    targets.has(key)
      ? 0
      : key.startsWith("eval/")
        ? 1
        : key === "train/loss"
          ? 2
          : key.startsWith("train/")
            ? 3
            : 4;
  return metrics
    .map(({ key }) => key)
    .filter((key) => matchesPattern(pattern, key))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** The tokens that a step of each job takes, padding included; null for all jobs if one has phases or does not say. */
export function tokensAStep({ fields, jobs }: Comparison): Map<number, number> | null {
  const values = (key: string) =>
    fields.find((field) => field.key === key && field.section === "spec")?.values;
  const [batch, length] = [values("training.batch.global"), values("training.sequence_length")];
  if (!batch || !length || values("training.phases")) return null;
  const tokens = jobs.map(({ id }, index) => [id, Number(batch[index]) * Number(length[index])] as const);
  return tokens.every(([, count]) => count > 0) ? new Map(tokens) : null;
}

export interface Place {
  axis: CompareAxis;
  startMs: number;
  tokens: number;
}

export const xOf = ({ axis, startMs, tokens }: Place, { step, timeMs }: Point) =>
  axis === "time" ? (timeMs - startMs) / 1000 : axis === "tokens" ? step * tokens : step;

/** On the axis of time all points are shown; else, for each step, the point of the last attempt that made it. */
export const placed = (points: readonly Point[], axis: CompareAxis) =>
  axis === "time" ? points : byStep(points);

export interface Offer {
  name: string;
  jobs: number[];
}

/** Names that several of these jobs have, the newest first, each with its newest jobs. */
export function offersOf(jobs: readonly Job[], most = 5): Offer[] {
  const byName = new Map<string, number[]>();
  for (const { id, name } of [...jobs].sort((a, b) => b.id - a.id))
    byName.set(name, [...(byName.get(name) ?? []), id]);
  return [...byName]
    .filter(([, ids]) => ids.length > 1)
    .map(([name, ids]) => ({ name, jobs: ids.slice(0, most).sort((a, b) => a - b) }))
    .slice(0, most);
}

// Which jobs the table shows and in what order: pure functions from jobs and the address bar's parameters to rows.
import { jobStates, type Job, type JobState } from "../api/types";
import { fromWire } from "./numbers";

export interface JobFilter {
  states: ReadonlySet<JobState>;
  /** Words of the name, `key:value` for a label, `account:nlp` for an account and those below it; all must match. */
  text: string;
  experiment: number | null;
}

export const sortKeys = [
  "id",
  "name",
  "state",
  "progress",
  "loss",
  "throughput",
  "devices",
  "priority",
  "submitted",
  "time",
] as const;
export type SortKey = (typeof sortKeys)[number];

export interface SortOrder {
  key: SortKey;
  descending: boolean;
}

export function filterFrom(params: URLSearchParams, experiment: number | null = null): JobFilter {
  const wanted = new Set((params.get("state") ?? "").split(","));
  return {
    states: new Set(jobStates.filter((state) => wanted.has(state))),
    text: params.get("q") ?? "",
    experiment,
  };
}

export function toggledState(states: ReadonlySet<JobState>, state: JobState): string {
  return jobStates.filter((each) => states.has(each) !== (each === state)).join(",");
}

/** `sort=loss` ascending, `sort=-loss` descending; newest first when the address says nothing. */
export function sortFrom(params: URLSearchParams): SortOrder {
  const text = params.get("sort") ?? "-id";
  const key = sortKeys.find((each) => each === text.replace(/^-/, ""));
  return key ? { key, descending: text.startsWith("-") } : { key: "id", descending: true };
}

export function sortParam(current: SortOrder, clicked: SortKey): string | null {
  const descending = current.key === clicked ? !current.descending : clicked !== "name";
  const text = `${descending ? "-" : ""}${clicked}`;
  return text === "-id" ? null : text;
}

const lossKeys = ["train/loss", "train/mlm_loss", "eval/mlm_loss", "eval/loss"];

export function latestLoss(job: Job): number | null {
  const key = lossKeys.find((each) => each in job.latest);
  const value = key === undefined ? undefined : job.latest[key];
  return value === undefined ? null : fromWire(value);
}

export interface Throughput {
  value: number;
  unit: string;
}

export function latestThroughput(job: Job): Throughput | null {
  const sequences = job.latest["train/sequences_per_second"];
  if (sequences !== undefined) return { value: fromWire(sequences), unit: "seq/s" };
  const tokens = job.latest["train/tokens_per_second"];
  return tokens === undefined ? null : { value: fromWire(tokens), unit: "tok/s" };
}

export function fraction(job: Job): number {
  if (!job.progress || job.progress.steps <= 0) return job.state === "succeeded" ? 1 : 0;
  return Math.min(1, job.progress.step / job.progress.steps);
}

type Test = (job: Job) => boolean;

/** "nlp/bert" is below "nlp"; "nlp2" is not. */
const isAtOrBelow = (account: string, above: string) =>
  above === "" || `${account.toLowerCase()}/`.startsWith(`${above.replace(/\/$/, "")}/`);

function wordTest(word: string): Test {
  const [key = "", value] = word.split(":", 2);
  if (key === "account" && value !== undefined) return (job) => isAtOrBelow(job.account, value);
  if (value !== undefined)
    return (job) => (job.labels[key] ?? "").toLowerCase().includes(value) && key in job.labels;
  if (/^#\d+$/.test(word)) return (job) => job.id === Number(word.slice(1));
  return (job) => job.name.toLowerCase().includes(word);
}

export function filterJobs(jobs: Iterable<Job>, filter: JobFilter): Job[] {
  const tests: Test[] = filter.text.toLowerCase().split(/\s+/).filter(Boolean).map(wordTest);
  if (filter.states.size > 0) tests.push((job) => filter.states.has(job.state));
  if (filter.experiment !== null) tests.push((job) => job.experiment === filter.experiment);
  const shown: Job[] = [];
  for (const job of jobs) if (tests.every((test) => test(job))) shown.push(job);
  return shown;
}

/** Missing values sort last whichever way the order goes. */
function sortValue(job: Job, key: SortKey): number | string | null {
  switch (key) {
    case "id":
      return job.id;
    case "name":
      return job.name.toLowerCase();
    case "state":
      return jobStates.indexOf(job.state);
    case "progress":
      return fraction(job);
    case "loss":
      return latestLoss(job);
    case "throughput":
      return latestThroughput(job)?.value ?? null;
    case "devices":
      return job.devices;
    case "priority":
      return job.priority;
    case "submitted":
      return job.submitted_ms;
    case "time":
      return job.time_to_train_seconds;
  }
}

export function sortJobs(jobs: Job[], order: SortOrder): Job[] {
  const sign = order.descending ? -1 : 1;
  const keyed = jobs.map((job) => ({ job, value: sortValue(job, order.key) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) {
      if (a.value !== b.value) return a.value === null ? 1 : -1;
    } else if (a.value !== b.value) {
      return a.value < b.value ? -sign : sign;
    }
    return b.job.id - a.job.id;
  });
  return keyed.map(({ job }) => job);
}

export function countStates(jobs: Iterable<Job>): Record<JobState, number> {
  const counts = Object.fromEntries(jobStates.map((state) => [state, 0])) as Record<JobState, number>;
  for (const job of jobs) counts[job.state] += 1;
  return counts;
}

/** An order in which rows move only when jobs come or go; then scrolling can hold on to what is being read. */
export const isStable = (order: SortOrder) =>
  ["id", "name", "submitted", "devices", "priority"].includes(order.key);

/**
 * Where to scroll so that the row that was at the top stays there after the list changed. At the very top it is left
 * alone: there new jobs should be seen coming in.
 */
export function anchoredScroll(
  before: readonly Job[],
  after: readonly Job[],
  scrollTop: number,
  rowHeight: number,
): number {
  const index = Math.floor(scrollTop / rowHeight);
  const anchor = before[index];
  if (index === 0 || !anchor) return scrollTop;
  if (after[index]?.id === anchor.id) return scrollTop;
  const moved = after.findIndex((job) => job.id === anchor.id);
  return moved < 0 ? scrollTop : scrollTop + (moved - index) * rowHeight;
}

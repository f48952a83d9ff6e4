// Which jobs a list shows, and in what order: from the parameters of the address to the query of the coordinator.
import { jobStates, type Job, type JobState, fromWire } from "../api/types";
import { formatOrder, orderParam, readOrder, turned, type Order } from "./order";

export const sortKeys = [
  "id",
  "name",
  "state",
  "progress",
  "loss",
  "throughput",
  "devices",
  "account",
  "priority",
  "submitted",
  "time",
] as const;
export type SortKey = (typeof sortKeys)[number];

export type SortOrder = Order<SortKey>;

const newestFirst: SortOrder = { key: "id", descending: true };

export interface JobView {
  states: ReadonlySet<JobState>;
  /** Words that must all match, as `q` of GET /jobs takes them. */
  text: string;
  experiment: number | null;
  order: SortOrder;
}

export function viewFrom(params: URLSearchParams, experiment: number | null = null): JobView {
  const wanted = new Set((params.get("state") ?? "").split(","));
  return {
    states: new Set(jobStates.filter((state) => wanted.has(state))),
    text: params.get("q") ?? "",
    experiment,
    order: sortFrom(params),
  };
}

/** The query of the API. Equal queries show the same list. */
export function queryOf({ states, text, experiment, order }: JobView): Record<string, string> {
  const words = text.trim();
  return {
    ...(experiment === null ? {} : { experiment: String(experiment) }),
    ...(words === "" ? {} : { q: words }),
    ...(states.size === 0 ? {} : { state: [...states].join(",") }),
    sort: formatOrder(order),
  };
}

/** Names a list: equal for views that ask for the same. */
export const nameOf = (view: JobView) => new URLSearchParams(queryOf(view)).toString();

export function toggledState(states: ReadonlySet<JobState>, state: JobState): string {
  return jobStates.filter((each) => states.has(each) !== (each === state)).join(",");
}

/** The newest first if the address says nothing. */
export const sortFrom = (params: URLSearchParams): SortOrder =>
  readOrder(params.get("sort"), sortKeys, newestFirst);

/** The key of the sorted column. */
export const sortKeyOf = (column: string) => sortKeys.find((each) => each === column) ?? "id";

export const sortParam = (current: SortOrder, clicked: SortKey): string | null =>
  orderParam(turned(current, clicked, clicked !== "name" && clicked !== "account"), newestFirst);

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

/** In such an order rows move only when jobs are added or removed, so the reader's place can be kept. */
export const isStable = (order: SortOrder) =>
  ["id", "name", "submitted", "devices", "account", "priority"].includes(order.key);

/** In such an order rows move with every report of a training. */
export const followsTraining = (order: SortOrder) => ["progress", "loss", "throughput"].includes(order.key);

/** A state without jobs may be absent. */
export type StateCounts = Partial<Record<JobState, number>>;

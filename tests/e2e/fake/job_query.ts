// Which jobs GET /jobs lists, in what order, and which part of the list, as schemas/openapi.yaml says.
import { jobStates, type Job, type JobState } from "../../../web/src/api/types";
import {
  fraction,
  latestLoss,
  latestThroughput,
  sortFrom,
  sortKeys,
  type SortKey,
  type SortOrder,
  type StateCounts,
} from "../../../web/src/model/job_list";
import type { Query } from "./call";

export interface JobQuery {
  states: readonly JobState[];
  matches(job: Job): boolean;
  order: SortOrder;
}

export function jobQueryFrom(query: Query, experiments: ReadonlyMap<number, unknown>): JobQuery {
  const experiment = query.integer("experiment", 0, 1, Number.MAX_SAFE_INTEGER);
  if (experiment > 0 && !experiments.has(experiment))
    query.refuse("experiment", `${experiment} is the number of no experiment`);
  const name = (query.text("name") ?? "").toLowerCase();
  const [, key, value] = /^([^:=]+)[:=](.*)$/.exec(query.text("label") ?? "") ?? [];
  const states = (query.text("state") ?? "").split(",").filter(Boolean);
  if (states.some((state) => !(jobStates as readonly string[]).includes(state)))
    query.refuse("state", "is a list of job states");
  const text = query.text("q") ?? "";
  if (Buffer.byteLength(text) > 1000) query.refuse("q", "must have at most 1000 bytes");
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(wordTest);
  return {
    states: states as JobState[],
    matches: (job) =>
      (experiment === 0 || job.experiment === experiment) &&
      job.name.toLowerCase().includes(name) &&
      (key === undefined || job.labels[key] === value) &&
      tests.every((test) => test(job)),
    order: orderFrom(query),
  };
}

function orderFrom(query: Query): SortOrder {
  const sort = query.text("sort") ?? "-id";
  if (!(sortKeys as readonly string[]).includes(sort.replace(/^-/, "")))
    query.refuse("sort", `is one of ${sortKeys.join(", ")}`);
  return sortFrom(new URLSearchParams({ sort }));
}

type Test = (job: Job) => boolean;

/** "nlp/bert" is below "nlp"; "nlp2" is not. */
const isAtOrBelow = (account: string, above: string) =>
  above === "" || `${account.toLowerCase()}/`.startsWith(`${above.replace(/\/$/, "")}/`);

function wordTest(word: string): Test {
  const colon = word.indexOf(":");
  const key = word.slice(0, Math.max(0, colon));
  const value = colon < 0 ? undefined : word.slice(colon + 1);
  if (key === "account" && value !== undefined) return (job) => isAtOrBelow(job.account, value);
  if (value !== undefined)
    return ({ labels }) =>
      Object.entries(labels).some(
        ([name, text]) => name.toLowerCase() === key && text.toLowerCase().includes(value),
      );
  if (/^#\d+$/.test(word)) return (job) => job.id === Number(word.slice(1));
  if (/^\d+$/.test(word)) return (job) => job.id === Number(word) || job.name.toLowerCase().includes(word);
  return (job) => job.name.toLowerCase().includes(word);
}

/** Null: it has none. */
function valueOf(job: Job, key: SortKey): number | string | null {
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
    case "account":
      return job.account;
    case "priority":
      return job.priority;
    case "submitted":
      return job.submitted_ms;
    case "time":
      return job.time_to_train_seconds;
  }
}

const missing = 2;

/**
 * Sorts before the value, in both directions: jobs without a value are last, and sequences are not compared with
 * tokens.
 */
function rankOf(job: Job, key: SortKey): number {
  const value = valueOf(job, key);
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) return missing;
  return key === "throughput" && latestThroughput(job)?.unit === "tok/s" ? 1 : 0;
}

export function sorted(jobs: readonly Job[], { key, descending }: SortOrder): Job[] {
  const sign = descending ? -1 : 1;
  const keyed = jobs.map((job) => ({ job, value: valueOf(job, key), rank: rankOf(job, key) }));
  keyed.sort((a, b) => {
    if (a.rank !== b.rank) return a.rank - b.rank;
    if (a.rank < missing && a.value !== b.value) return a.value! < b.value! ? -sign : sign;
    return b.job.id - a.job.id;
  });
  return keyed.map(({ job }) => job);
}

export function countStates(jobs: readonly Job[]): StateCounts {
  const counts: StateCounts = {};
  for (const { state } of jobs) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

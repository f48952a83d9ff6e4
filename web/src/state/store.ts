// What the coordinator told us: jobs, nodes, and whether it is there. The live stream is applied here in batches, a few
// times a second, so that a burst of updates costs one rendering.
import { batch, signal } from "@preact/signals";
import { getJobPage, getNodes } from "../api/client";
import { LiveStream, type Connection } from "../api/live";
import { explain, Unreachable } from "../api/problem";
import type { Job, LiveMessage, LivePoint, Node } from "../api/types";
import { withPoints } from "../model/job_update";
import { askForReading, tokenOwner } from "./token";

/** Beyond this many the newest are shown and the page says so. */
export const mostJobs = 20_000;
const flushMs = 250;

export interface Loading {
  state: "loading" | "ready" | "failed";
  error: string;
  /** Of the jobs the coordinator has, at the last fetch. */
  total: number;
}

export const connection = signal<Connection>({ state: "connecting" });
/** Goes up whenever everything fetched before may be stale. */
export const generation = signal(0);
/** Goes up when jobs, nodes or accounts changed in what the scheduler looks at: not with every step of training. */
export const scheduling = signal(0);
/** Replaced, never changed in place; a job that did not change keeps its identity. */
export const jobs = signal<ReadonlyMap<number, Job>>(new Map());
export const jobsLoading = signal<Loading>({ state: "loading", error: "", total: 0 });
export const nodes = signal<ReadonlyMap<string, Node>>(new Map());
export const nodesLoading = signal<Loading>({ state: "loading", error: "", total: 0 });

type PointListener = (points: LivePoint[]) => void;
const pointListeners = new Map<number, Set<PointListener>>();

/** Calls back with one job's metric points as they arrive; returns the function that ends it. */
export function listenToPoints(job: number, listener: PointListener): () => void {
  const listeners = pointListeners.get(job) ?? new Set();
  pointListeners.set(job, listeners.add(listener));
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) pointListeners.delete(job);
  };
}

function movesQueue(before: Job | undefined, after: Job): boolean {
  if (!before) return true;
  const keys = ["state", "attempt", "priority", "held", "reason"] as const;
  return keys.some((key) => before[key] !== after[key]);
}

let pending: LiveMessage[] = [];
let flushTimer: ReturnType<typeof setTimeout> | null = null;

function enqueue(messages: LiveMessage[]): void {
  pending.push(...messages);
  flushTimer ??= setTimeout(flush, flushMs);
}

function flush(): void {
  flushTimer = null;
  const messages = pending;
  pending = [];
  let nextJobs: Map<number, Job> | null = null;
  let nextNodes: Map<string, Node> | null = null;
  let scheduled = false;
  const points = new Map<number, LivePoint[]>();
  for (const message of messages) {
    if (message.event === "job") {
      nextJobs ??= new Map(jobs.value);
      scheduled ||= movesQueue(nextJobs.get(message.data.id), message.data);
      nextJobs.set(message.data.id, message.data);
    } else if (message.event === "account") {
      scheduled = true;
    } else if (message.event === "node") {
      nextNodes ??= new Map(nodes.value);
      nextNodes.set(message.data.id, message.data);
      scheduled = true;
    } else if (message.event === "metrics") {
      const known = (nextJobs ?? jobs.value).get(message.data.job);
      if (known) {
        nextJobs ??= new Map(jobs.value);
        nextJobs.set(known.id, withPoints(known, message.data.points));
      }
      points.set(message.data.job, (points.get(message.data.job) ?? []).concat(message.data.points));
    }
  }
  if (nextJobs && updatedWhileLoading) {
    for (const [id, job] of nextJobs) if (jobs.value.get(id) !== job) updatedWhileLoading.set(id, job);
  }
  batch(() => {
    if (nextJobs) jobs.value = nextJobs;
    if (nextNodes) nodes.value = nextNodes;
    if (scheduled) scheduling.value += 1;
  });
  for (const [job, some] of points) for (const listener of pointListeners.get(job) ?? []) listener(some);
}

export function applyJob(job: Job): void {
  enqueue([{ event: "job", data: job }]);
}

export function applyNode(node: Node): void {
  enqueue([{ event: "node", data: node }]);
}

/** An account's rules changed; the coordinator tells the others. */
export function applyAccount(account: string): void {
  enqueue([{ event: "account", data: { account } }]);
}

const isTemporary = (error: unknown) => error instanceof Unreachable;

/** Live updates that arrive between two pages are newer than the pages; null while nothing is loading. */
let updatedWhileLoading: Map<number, Job> | null = null;

async function loadJobs(forGeneration: number): Promise<void> {
  const fetched = new Map<number, Job>();
  const updated = (updatedWhileLoading = new Map<number, Job>());
  let pageToken: string | undefined;
  try {
    do {
      const page = await getJobPage(pageToken);
      if (generation.value !== forGeneration) return;
      for (const job of page.jobs) fetched.set(job.id, job);
      pageToken = page.next_page_token;
      const complete = pageToken === undefined || fetched.size >= mostJobs;
      // On the first load every page shows at once; a reload replaces the table when it is whole.
      const first = jobsLoading.value.state !== "ready";
      batch(() => {
        if (first || complete) jobs.value = new Map([...fetched, ...updated]);
        if (complete || first)
          jobsLoading.value = { state: complete ? "ready" : "loading", error: "", total: page.total };
      });
      if (complete) return;
    } while (pageToken !== undefined);
  } catch (error) {
    if (generation.value !== forGeneration || isTemporary(error)) return;
    jobsLoading.value = { state: "failed", error: explain(error), total: 0 };
  } finally {
    if (updatedWhileLoading === updated) updatedWhileLoading = null;
  }
}

export async function loadNodes(): Promise<void> {
  try {
    const list = await getNodes();
    batch(() => {
      nodes.value = new Map(list.map((node) => [node.id, node]));
      nodesLoading.value = { state: "ready", error: "", total: list.length };
    });
  } catch (error) {
    if (!isTemporary(error)) nodesLoading.value = { state: "failed", error: explain(error), total: 0 };
  }
}

export function reloadAll(): void {
  generation.value += 1;
  void loadJobs(generation.value);
  void loadNodes();
}

export function startStore(): LiveStream {
  const stream = new LiveStream({
    onConnection: (next) => {
      connection.value = next;
    },
    onMessages: enqueue,
    onToken: (owner) => {
      tokenOwner.value = owner;
    },
    onReset: reloadAll,
    onLocked: askForReading,
  });
  addEventListener("online", () => stream.retryNow());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && connection.value.state === "offline") stream.retryNow();
  });
  stream.start();
  return stream;
}

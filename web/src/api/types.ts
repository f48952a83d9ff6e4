// The shapes on the wire, as docs/protocols.md gives them. Names are the wire's own, so nothing is renamed on the way.

export const jobStates = [
  "queued",
  "starting",
  "running",
  "stopping",
  "succeeded",
  "failed",
  "cancelled",
] as const;
export type JobState = (typeof jobStates)[number];
export type AttemptEnd =
  "succeeded" | "failed" | "preempted" | "cancelled" | "node_lost" | "walltime" | "resized";
export type NodeState = "up" | "unknown" | "lost";
/** JSON has no such numbers, so the wire carries them as words. */
export type WireNumber = number | "NaN" | "Infinity" | "-Infinity";

export interface Progress {
  step: number;
  steps: number;
  updated_ms: number;
}

export interface Target {
  metric: string;
  at_least?: number | null;
  at_most?: number | null;
  latest?: WireNumber | null;
  best?: WireNumber | null;
  reached_ms: number | null;
  reached_step: number | null;
}

export interface Job {
  id: number;
  experiment: number;
  name: string;
  state: JobState;
  priority: number;
  account: string;
  /** By an operator: does not start, or start again, until it is released. */
  held: boolean;
  labels: Record<string, string>;
  devices: number;
  /** Of an elastic job, on how many devices it may run; empty or absent for others. */
  sizes?: number[];
  per_node: number;
  kind: string;
  walltime_seconds: number;
  max_restarts: number;
  submitted_ms: number;
  started_ms: number | null;
  ended_ms: number | null;
  attempt: number;
  restarts: number;
  reason: string;
  progress: Progress | null;
  latest: Record<string, WireNumber>;
  target: Target | null;
  time_to_train_seconds: number | null;
}

export interface Task {
  rank: number;
  node: string;
  device: number;
  state: string;
  pid: number | null;
  exit: { code: number; signal: number; message: string; cause: string } | null;
}

export interface Attempt {
  number: number;
  created_ms: number;
  started_ms: number | null;
  ended_ms: number | null;
  end: AttemptEnd | null;
  reason: string;
  /** null until the attempt's first step, and for programs that report none. */
  first_step: number | null;
  last_step: number | null;
  tasks: Task[];
}

export interface Source {
  repository?: string;
  commit?: string;
  path?: string;
  dirty?: boolean;
}

export interface JobDetail extends Job {
  attempts: Attempt[];
  spec: unknown;
  source: Source | null;
}

export interface JobEvent {
  id: number;
  time_ms: number;
  type: string;
  text: string;
  level: string;
}

export interface Metric {
  key: string;
  count: number;
  first_step: number;
  last_step: number;
  last_ms: number;
  last: WireNumber;
  min: WireNumber;
  max: WireNumber;
}

export type WirePoint = [step: number, timeMs: number, value: WireNumber];

export interface WireSeries {
  key: string;
  points: WirePoint[];
}

export interface LivePoint {
  key: string;
  step: number;
  time_ms: number;
  value: WireNumber;
}

export interface Blocker {
  code: string;
  sentence: string;
  needs: number;
  has: number;
  per_node: number;
  job: number | null;
  nodes: string[];
  until_ms: number | null;
  accounts: Record<string, number>;
}

/** When a waiting job is expected to start; null where the forecast finds no start, and `note` says why. */
export interface StartForecast {
  earliest_ms: number | null;
  expected_ms: number | null;
  latest_ms: number | null;
  reserved_ms: number | null;
  not_before_ms: number | null;
  note: string;
  basis: { expected_share: number; earliest_share: number; ended_jobs: number; jobs_with_pace: number };
}

export interface Sooner {
  change: string;
  set: Record<string, string | number | null | Record<string, string>>;
  expected_ms: number;
  backfill: boolean;
  sentence: string;
}

export interface Why {
  job: number;
  state: JobState;
  now_ms: number;
  blockers: Blocker[];
  start: StartForecast | null;
  sooner: Sooner[];
}

export interface Device {
  index: number;
  kind: string;
  model: string;
  memory_bytes: number;
  threads: number;
  artificial: boolean;
  island?: number;
  health: string;
  job: number | null;
}

/** Nothing new starts on the node; with a time it is a maintenance window. */
export interface Drain {
  reason: string;
  from_ms: number | null;
  until_ms: number | null;
}

/** Only the account's jobs start on the node, and those of accounts below it. */
export interface Reservation extends Drain {
  account: string;
}

export interface Node {
  id: string;
  address: string;
  state: NodeState;
  agent_version: string;
  labels: Record<string, string>;
  /** Those of `labels` that operators gave; the rest are its agent's. */
  operator_labels: Record<string, string>;
  drain: Drain | null;
  reservation: Reservation | null;
  last_seen_ms: number;
  /** Its wall clock beside the cluster's time; null where it has not said. */
  clock: { ahead_ms: number; round_trip_ms: number; off: boolean } | null;
  /** Live tasks that nobody here ordered; null where there is none. */
  unknown: {
    tasks: { job: number; attempt: number; rank: number }[];
    cluster: string | null;
    adopted: "keep" | "stop" | null;
  } | null;
  devices: Device[];
}

export interface Experiment {
  id: number;
  name: string;
  created_ms: number;
  source: Source | null;
  spec?: string;
  jobs: number[];
}

export interface AccountUsage {
  devices: number;
  /** Of `devices`, those that accounts with quotas may take back. */
  borrowed: number;
  device_seconds: number;
  factor: number;
  waiting_jobs: number;
  waiting_devices: number;
}

/** By device kind. */
export type Kinds<T> = Record<string, T>;

/** Its usage is that of the account and all below it. */
export interface Account {
  account: string;
  share: number;
  quota: Kinds<number>;
  limit: Kinds<number>;
  usage: Kinds<AccountUsage>;
}

export interface Accounts {
  policy: string;
  half_life_seconds: number;
  accounts: Account[];
}

/** What is absent stays; null lifts. */
export interface AccountChange {
  share?: number;
  quota?: Kinds<number | null>;
  limit?: Kinds<number | null>;
}

export interface WaitingJob {
  job: number;
  name: string;
  account: string;
  devices: number;
  sizes?: number[];
  per_node: number;
  walltime_seconds: number;
  priority: number;
  submitted_ms: number;
  waited_seconds: number;
  blocker: string;
  reason: string;
}

export interface QueuedJob extends WaitingJob {
  position: number;
  age_points: number | null;
  /** Of its account and those above it, outermost first. */
  account_factors: number[] | null;
  guaranteed_by: string | null;
  reserved_ms: number | null;
}

export interface QueueOfKind {
  kind: string;
  total: number;
  jobs: QueuedJob[];
}

export interface JobApart extends WaitingJob {
  kind: string;
}

export interface Queue {
  policy: string;
  ageing_seconds: number;
  walltime_weight: number;
  queues: QueueOfKind[];
  /** Held, or after others. */
  apart: { total: number; jobs: JobApart[] };
}

/** Whose token a request carries. */
export type TokenOwner = "user" | "agent" | "nobody";

export interface Health {
  status: string;
  version: string;
  uptime_seconds: number;
  live_id: number;
  token: TokenOwner;
}

export interface ProblemBody {
  title?: string;
  status?: number;
  detail?: string;
  request_id?: string;
  errors?: { message: string; where?: string }[];
}

export type LiveMessage =
  | { event: "job"; data: Job }
  | { event: "node"; data: Node }
  | { event: "account"; data: { account: string } }
  | { event: "metrics"; data: { job: number; points: LivePoint[] } }
  | { event: "reset" };

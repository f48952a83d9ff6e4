// The queue and the accounts of the generated cluster, and what operators do to its jobs, nodes and accounts.
import type {
  Account,
  AccountChange,
  Accounts,
  Drain,
  Reservation,
  Job,
  JobApart,
  Node,
  Queue,
  QueuedJob,
} from "../../../web/src/api/types";
import { Refusal } from "./call";
import type { Cluster } from "./cluster";

const usage = (
  devices: number,
  borrowed: number,
  hours: number,
  share: number,
  jobs: number,
  waiting: number,
) => ({
  devices,
  borrowed,
  device_seconds: hours * 3600,
  factor: (hours * 3600) / share,
  waiting_jobs: jobs,
  waiting_devices: waiting,
});

export function makeAccounts(): Map<string, Account> {
  const accounts: Account[] = [
    { account: "default", share: 1, quota: {}, limit: {}, usage: { cpu: usage(2, 0, 0.1, 1, 0, 0) } },
    {
      account: "nlp",
      share: 3,
      quota: { gpu: 64 },
      limit: { gpu: 128 },
      usage: { gpu: usage(56, 0, 5210.4, 3, 4, 96), cpu: usage(4, 0, 12.5, 3, 0, 0) },
    },
    {
      account: "nlp/bert",
      share: 2,
      quota: {},
      limit: {},
      usage: { gpu: usage(40, 0, 3900.2, 2, 3, 64) },
    },
    {
      account: "nlp/gpt",
      share: 1,
      quota: { gpu: 16 },
      limit: { gpu: 32 },
      usage: { gpu: usage(16, 0, 1310.2, 1, 1, 32) },
    },
    {
      account: "speech",
      share: 2,
      quota: { gpu: 24 },
      limit: {},
      usage: { gpu: usage(41, 17, 2208.8, 2, 2, 24) },
    },
    {
      account: "vision/diffusion-and-video-models",
      share: 1,
      quota: {},
      limit: {},
      usage: { gpu: usage(34, 34, 3312.7, 1, 2, 80) },
    },
    { account: "vision", share: 1, quota: {}, limit: {}, usage: { gpu: usage(34, 34, 3312.7, 1, 2, 80) } },
  ];
  return new Map(accounts.map((account) => [account.account, account]));
}

export const accountsOf = (accounts: Map<string, Account>): Accounts => ({
  policy: "fair-share",
  half_life_seconds: 604_800,
  accounts: [...accounts.values()],
});

const waiting = (job: Job, nowMs: number) => ({
  job: job.id,
  name: job.name,
  account: job.account,
  devices: job.devices,
  sizes: job.sizes,
  per_node: job.per_node,
  walltime_seconds: job.walltime_seconds,
  priority: job.priority,
  submitted_ms: job.submitted_ms,
  waited_seconds: (nowMs - job.submitted_ms) / 1000,
  reason: job.reason,
});

const follows = (job: Job) => job.reason.startsWith("waits for job");

export function queueOf(cluster: Cluster, limit: number, nowMs: number): Queue {
  const queued = [...cluster.jobs.values()].filter(({ state }) => state === "queued");
  const inLine = queued.filter((job) => !job.held && !follows(job));
  const apart = queued.filter((job) => job.held || follows(job));
  const jobs = inLine
    .sort((a, b) => b.priority - a.priority || a.id - b.id)
    .slice(0, limit)
    .map((job, index): QueuedJob => ({
      ...waiting(job, nowMs),
      position: index + 1,
      age_points: (nowMs - job.submitted_ms) / 3_600_000,
      walltime_points: job.walltime_seconds / 3600,
      score: job.priority + (nowMs - job.submitted_ms - job.walltime_seconds * 1000) / 3_600_000,
      rank: index,
      account_factors: job.account.split("/").map((_, level) => 6_252_480 / (level + 1.5)),
      guaranteed_by: index < 2 ? job.account : null,
      reserved_ms: index < 3 ? nowMs + (index + 1) * 4_000_000 : null,
      blocker: "devices",
    }));
  return {
    policy: "fair-share",
    ageing_seconds: 3600,
    walltime_weight: 1,
    walltime_points: 100,
    queues: inLine.length > 0 ? [{ kind: "gpu", total: inLine.length, jobs }] : [],
    apart: {
      total: apart.length,
      jobs: apart.map((job): JobApart => ({
        ...waiting(job, nowMs),
        kind: job.kind || "gpu",
        blocker: job.held ? "held" : "follows",
      })),
    },
  };
}

function priorityOf(body: unknown): number {
  const { priority } = body as { priority: number };
  if (priority >= 0 && priority <= 100) return priority;
  throw new Refusal(400, "priority is a whole number from 0 to 100");
}

/** Returns the job afterwards. */
export function operateOn(job: Job, operation: string, body: unknown): Job {
  if (job.ended_ms !== null && operation !== "requeue")
    throw new Refusal(409, `job ${job.id} has already ended`);
  switch (operation) {
    case "hold":
      return {
        ...job,
        held: true,
        reason: job.state === "queued" ? `is held; podium release ${job.id} lets it start` : job.reason,
      };
    case "release":
      return { ...job, held: false, reason: job.state === "queued" ? "waits for its turn" : "" };
    case "priority":
      return { ...job, priority: priorityOf(body) };
    case "requeue":
      if (job.name.startsWith("stubborn")) throw new Refusal(409, `job ${job.id} is being stopped for good`);
      return { ...job, state: "stopping", reason: "requeued" };
    case "cancel":
      return job.state === "queued"
        ? { ...job, state: "cancelled", ended_ms: Date.now() }
        : { ...job, state: "stopping", reason: "cancelled" };
    default:
      throw new Refusal(404, `a job cannot ${operation}`);
  }
}

export function operateOnNode(node: Node, operation: string, body: unknown): Node {
  const window = { reason: "", from_ms: null, until_ms: null };
  if (operation === "drain") return { ...node, drain: { ...window, ...(body as Drain) } };
  if (operation === "resume") return { ...node, drain: null };
  if (operation === "reserve") return { ...node, reservation: { ...window, ...(body as Reservation) } };
  if (operation === "unreserve") return { ...node, reservation: null };
  const given = { ...node.operator_labels };
  for (const [key, value] of Object.entries((body as { labels: Record<string, string | null> }).labels)) {
    if (value === null) delete given[key];
    else given[key] = value;
  }
  return { ...node, operator_labels: given, labels: { ...node.labels, ...given } };
}

export function changed(account: Account, change: AccountChange): Account {
  const merged = (rules: Record<string, number>, changes: Record<string, number | null> = {}) =>
    Object.fromEntries(
      Object.entries({ ...rules, ...changes }).filter(
        (entry): entry is [string, number] => entry[1] !== null,
      ),
    );
  return {
    ...account,
    share: change.share ?? account.share,
    quota: merged(account.quota, change.quota),
    limit: merged(account.limit, change.limit),
  };
}

// Where the time of the generated jobs went: cut from their attempts, so that the pieces of a job add up to its whole time.
import type {
  Attempt,
  Job,
  JobLedger,
  LedgerKind,
  LedgerPiece,
  LedgerRow,
  LedgerTable,
} from "../../../web/src/api/types";
import { ok, type Answer, type Query } from "./call";
import type { Cluster } from "./cluster";
import { detailOf } from "./quickstart";
import type { FakeCoordinator } from "./server";

const dayMs = 86_400_000;
/** The evaluations and checkpoints of an attempt. */
const rounds = 8;

type Cut = [kind: LedgerKind, share: number, detail?: string];

/** Cuts the time from `from` to `to` by shares that sum up to 1, to the millisecond. */
function cut(from: number, to: number, cuts: readonly Cut[], whose: Partial<LedgerPiece>): LedgerPiece[] {
  let done = 0;
  return cuts.flatMap(([kind, share, detail = ""], index) => {
    const begin = Math.round(from + done * (to - from));
    done += share;
    const end = index === cuts.length - 1 ? to : Math.round(from + done * (to - from));
    if (end <= begin) return [];
    const none = { attempt: 0, devices: 1, first_step: null, last_step: null, merged: 1 };
    return [{ ...none, ...whose, from_ms: begin, to_ms: end, kind, detail }];
  });
}

function piecesOfAttempt(
  attempt: Attempt,
  next: Attempt | undefined,
  job: Job,
  endMs: number,
): LedgerPiece[] {
  const whose = { attempt: attempt.number, devices: job.devices };
  const started = Math.min(endMs, attempt.started_ms ?? endMs);
  const launching = cut(attempt.created_ms, started, [["launching", 1]], whose);
  if (job.command) return [...launching, ...cut(started, endMs, [["running", 1]], whose)];
  const [first, last] = [attempt.first_step ?? 0, attempt.last_step ?? 0];
  const again =
    next?.first_step == null || last <= first ? 0 : Math.max(0, last - next.first_step) / (last - first);
  const train: Cut[] = Array.from({ length: rounds }, (_, round): Cut[] => [
    [(round + 1) / rounds > 1 - again ? "lost" : "stepping", 0.88 / rounds],
    ["evaluating", 0.05 / rounds],
    ["checkpointing", 0.02 / rounds],
  ]).flat();
  const pieces = cut(
    started,
    endMs,
    [
      ["rendezvous", 0.012],
      ["loading", 0.028],
      ...train,
      attempt.ended_ms === null ? ["unknown", 0.01] : ["stopping", 0.01],
    ],
    whose,
  );
  let step = first;
  for (const piece of pieces)
    if (piece.kind === "stepping" || piece.kind === "lost") {
      piece.first_step = Math.round(step);
      piece.last_step = Math.round((step += (last - first) / rounds));
    }
  return [...launching, ...pieces];
}

export function ledgerOf(job: Job, cluster: Cluster, nowMs: number): JobLedger {
  const { attempts } = detailOf(job, cluster);
  const pieces: LedgerPiece[] = [];
  let at = job.submitted_ms;
  const wait = (to: number, kind: LedgerKind, detail: string) => {
    pieces.push(...cut(at, to, [[kind, 1, detail]], { devices: job.devices }));
    at = Math.max(at, to);
  };
  attempts.forEach((attempt, index) => {
    wait(attempt.created_ms, index === 0 ? "waiting" : "backing_off", index === 0 ? "devices" : "");
    const end = attempt.ended_ms ?? job.ended_ms ?? nowMs;
    pieces.push(...piecesOfAttempt(attempt, attempts[index + 1], job, end));
    at = Math.max(at, end);
  });
  if (attempts.length === 0) wait(job.ended_ms ?? nowMs, "waiting", job.held ? "held" : "devices");
  const totals = totalsOf(pieces);
  return {
    job: job.id,
    now_ms: nowMs,
    final: job.ended_ms !== null,
    devices: job.devices,
    ...rates(totals),
    energy: null,
    cost: null,
    pieces,
    totals,
  };
}

function totalsOf(pieces: readonly LedgerPiece[]): JobLedger["totals"] {
  const totals = new Map<string, JobLedger["totals"][number]>();
  for (const { kind, detail, from_ms, to_ms, devices } of pieces) {
    const [key, wall] = [`${kind} ${detail}`, to_ms - from_ms];
    const none = {
      kind,
      detail,
      times: 0,
      wall_ms: 0,
      device_ms: 0,
      longest_ms: 0,
      longest_from_ms: from_ms,
    };
    const total = totals.get(key) ?? none;
    const longer = wall > total.longest_ms;
    totals.set(key, {
      ...total,
      times: total.times + 1,
      wall_ms: total.wall_ms + wall,
      device_ms: total.device_ms + wall * devices,
      ...(longer ? { longest_ms: wall, longest_from_ms: from_ms } : {}),
    });
  }
  return [...totals.values()];
}

function rates(totals: readonly { kind: LedgerKind; device_ms: number }[]) {
  const of = (...kinds: LedgerKind[]) =>
    totals.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { device_ms }) => sum + device_ms, 0);
  const held = totals.reduce((sum, { device_ms }) => sum + device_ms, 0) - of("waiting", "backing_off");
  const known = held - of("running", "unknown");
  return { held_device_ms: held, goodput: known > 0 ? of("stepping") / known : null };
}

type By = LedgerTable["by"];

function keysOf(by: By, job: Job, piece: LedgerPiece, cluster: Cluster): string[] {
  if (by === "job") return [String(job.id)];
  if (by === "account") return [job.account];
  if (by === "experiment") return [String(job.experiment)];
  if (by === "day") return [new Date(piece.from_ms).toISOString().slice(0, 10)];
  const attempt = detailOf(job, cluster).attempts.find(({ number }) => number === piece.attempt);
  const nodes = [...new Set(attempt?.tasks.map(({ node }) => node))];
  return nodes.length > 0 ? nodes : [""];
}

/** Cuts at the ends of days (UTC). */
function byDay(piece: LedgerPiece): LedgerPiece[] {
  const parts: LedgerPiece[] = [];
  for (let from = piece.from_ms; from < piece.to_ms;) {
    const to = Math.min(piece.to_ms, (Math.floor(from / dayMs) + 1) * dayMs);
    parts.push({ ...piece, from_ms: from, to_ms: to });
    from = to;
  }
  return parts;
}

class Sum {
  readonly jobs = new Set<number>();
  readonly totals = new Map<string, LedgerRow["totals"][number]>();

  constructor(readonly name: string) {}

  add(job: number, { kind, detail }: LedgerPiece, deviceMs: number): void {
    this.jobs.add(job);
    const key = `${kind} ${detail}`;
    const before = this.totals.get(key)?.device_ms ?? 0;
    this.totals.set(key, { kind, detail, device_ms: before + deviceMs });
  }

  row(key: string): LedgerRow {
    const totals = [...this.totals.values()]
      .map((total) => ({ ...total, device_ms: Math.round(total.device_ms) }))
      .filter(({ device_ms }) => device_ms > 0);
    return { key, name: this.name, jobs: this.jobs.size, ...rates(totals), totals };
  }
}

export function readLedger({ cluster }: FakeCoordinator, query: Query): Answer {
  const by = query.oneOf("by", ["job", "account", "experiment", "node", "day"], "job");
  const account = query.text("account");
  const experiment = query.integer("experiment", 0, 1, Number.MAX_SAFE_INTEGER);
  const from = query.integer("from_ms", 0, 0, Number.MAX_SAFE_INTEGER);
  const to = query.integer("to_ms", Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER);
  const limit = query.integer("limit", 100, 1, 1000);
  query.check();
  const nowMs = Date.now();
  const rows = new Map<string, Sum>();
  const all = new Sum("");
  for (const job of cluster.jobs.values()) {
    if (experiment > 0 && job.experiment !== experiment) continue;
    if (account !== null && !`${job.account}/`.startsWith(`${account}/`)) continue;
    for (const piece of ledgerOf(job, cluster, nowMs).pieces.flatMap(byDay)) {
      if (piece.to_ms <= Math.floor(from / dayMs) * dayMs || piece.from_ms >= to) continue;
      const keys = keysOf(by, job, piece, cluster);
      const deviceMs = (piece.to_ms - piece.from_ms) * piece.devices;
      all.add(job.id, piece, deviceMs);
      for (const key of keys) {
        const named = by === "job" || by === "experiment";
        const sum = rows.get(key) ?? new Sum(named ? job.name : "");
        rows.set(key, sum);
        sum.add(job.id, piece, deviceMs / keys.length);
      }
    }
  }
  const told = [...rows].map(([key, sum]) => sum.row(key));
  if (by === "day") told.sort((a, b) => (a.key < b.key ? -1 : 1));
  else told.sort((a, b) => b.held_device_ms - a.held_device_ms);
  const shown = by === "day" ? told.slice(-limit) : told.slice(0, limit);
  return ok({ by, now_ms: nowMs, count: told.length, rows: shown, all: all.row("") });
}

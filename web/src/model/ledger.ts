// Where time went, in words and in shares: every device-second is in one bucket, and the buckets add up to the total. Pure.
import type { JobLedger, LedgerKind, LedgerPiece, LedgerRow, LedgerTable } from "../api/types";
import { formatCount, formatDeviceHours, formatShare } from "../format/numbers";
import { formatDuration } from "../format/times";
import { niceSeconds } from "./time_line";

/** In the order of drawing. */
export const ledgerKinds: readonly LedgerKind[] = [
  "waiting",
  "backing_off",
  "launching",
  "rendezvous",
  "loading",
  "stepping",
  "lost",
  "evaluating",
  "checkpointing",
  "running",
  "stopping",
  "unknown",
];

const words: Partial<Record<LedgerKind, string>> = {
  backing_off: "backing off",
  stepping: "steps that count",
  lost: "steps taken again",
};

export const kindText = (kind: LedgerKind) => words[kind] ?? kind;

export const kindMeaning: Record<LedgerKind, string> = {
  waiting: "Before its start; the detail is what blocks it first",
  backing_off: "It failed several times soon after its start, and waits before the next",
  launching: "From its start until all of its tasks run",
  rendezvous: "The ranks find each other",
  loading: "Reading text, weights or a checkpoint",
  stepping: "Steps that moved the training forward",
  lost: "Steps that a later attempt took again",
  evaluating: "On held-out data",
  checkpointing: "Only the time for which training waited",
  running: "A program that does not report its phases",
  stopping: "From the request to stop to the end of its last task",
  unknown: "Nothing was reported",
};

/** The job holds devices during such time. */
const isHeld = (kind: LedgerKind) => kind !== "waiting" && kind !== "backing_off";

/** Such time is known to have moved nothing forward. */
const isLoss = (kind: LedgerKind) => !["stepping", "running", "unknown"].includes(kind);

export type LedgerUnit = "wall" | "devices";

export interface Part {
  kind: LedgerKind;
  ms: number;
}

interface Total {
  kind: LedgerKind;
  device_ms: number;
  wall_ms?: number;
}

/** In the order of kinds. */
export function partsOf(totals: readonly Total[], unit: LedgerUnit = "devices", waits = true): Part[] {
  return ledgerKinds
    .filter((kind) => waits || isHeld(kind))
    .map((kind) => ({
      kind,
      ms: totals
        .filter((total) => total.kind === kind)
        .reduce((sum, total) => sum + (unit === "wall" ? (total.wall_ms ?? 0) : total.device_ms), 0),
    }))
    .filter(({ ms }) => ms > 0);
}

export const sumOf = (parts: readonly Part[]) => parts.reduce((sum, { ms }) => sum + ms, 0);

/** A sentence about where a job's time went. */
export function ledgerSentence(ledger: JobLedger): string {
  const parts = partsOf(ledger.totals, "wall");
  const time = formatDuration(sumOf(parts) / 1000);
  if (ledger.held_device_ms === 0)
    return `Job ${ledger.job} has held no devices${ledger.final ? "" : " so far"}; it waited ${time}.`;
  const counted =
    ledger.goodput === null
      ? "its program reports no steps, so what counted is not known"
      : `steps that count took ${formatShare(ledger.goodput)} of the device time that it held`;
  const loss = largestLoss(ledger);
  const lost = loss ? ` Largest loss: ${formatDuration(loss.ms / 1000)} of ${kindText(loss.kind)}.` : "";
  const whole = ledger.final ? `${time} from its submission to its end` : `${time} since its submission`;
  return `${whole}; ${counted}.${lost}`;
}

/** The kind that lost the most device time, with its wall-clock time. */
function largestLoss({ totals }: JobLedger): Part | null {
  const losses = partsOf(totals).filter(({ kind }) => isLoss(kind));
  const most = losses.reduce<Part | null>((best, part) => (best && best.ms >= part.ms ? best : part), null);
  return (
    most && { kind: most.kind, ms: sumOf(partsOf(totals, "wall").filter(({ kind }) => kind === most.kind)) }
  );
}

export interface LanePiece {
  /** Fractions of the axis. */
  left: number;
  width: number;
  kind: LedgerKind;
  title: string;
  /** The number of pieces that were merged; the longest gives the kind. */
  merged: number;
}

export interface Lane {
  /** 0: the job waits. */
  attempt: number;
  pieces: LanePiece[];
}

export interface Lanes {
  fromMs: number;
  toMs: number;
  lanes: Lane[];
  ticks: { left: number; seconds: number }[];
}

/** A fraction of the axis. A narrower piece is no wider than a pixel and is merged with its neighbours. */
const narrowest = 1 / 800;

/** A lane for each attempt on one wall-clock axis, and a lane for the waits before and between them. */
export function lanesOf({ pieces }: Pick<JobLedger, "pieces">): Lanes | null {
  const first = pieces[0];
  if (!first) return null;
  const fromMs = first.from_ms;
  const toMs = Math.max(...pieces.map(({ to_ms }) => to_ms), fromMs + 1);
  const span = toMs - fromMs;
  const byAttempt = new Map<number, LedgerPiece[]>();
  for (const piece of pieces) byAttempt.set(piece.attempt, [...(byAttempt.get(piece.attempt) ?? []), piece]);
  const lanes = [...byAttempt]
    .sort(([a], [b]) => a - b)
    .map(([attempt, of]) => ({ attempt, pieces: merged(of, narrowest * span).map(placed) }));
  const step = niceSeconds.find((seconds) => span / 1000 / seconds <= 7) ?? span / 7000;
  const ticks = [];
  for (let seconds = 0; seconds <= span / 1000; seconds += step)
    ticks.push({ left: (seconds * 1000) / span, seconds });
  return { fromMs, toMs, lanes, ticks };

  function placed(piece: Merged): LanePiece {
    return {
      left: (piece.from_ms - fromMs) / span,
      width: (piece.to_ms - piece.from_ms) / span,
      kind: piece.kind,
      title: titleOf(piece),
      merged: piece.merged,
    };
  }
}

type Merged = Pick<
  LedgerPiece,
  "from_ms" | "to_ms" | "kind" | "detail" | "first_step" | "last_step" | "merged"
>;

/** Merges neighbours that are together narrower than `least`. */
function merged(pieces: readonly LedgerPiece[], least: number): Merged[] {
  const kept: (Merged & { longest: number })[] = [];
  for (const piece of pieces) {
    const before = kept.at(-1);
    const length = piece.to_ms - piece.from_ms;
    const joins =
      before !== undefined &&
      before.to_ms === piece.from_ms &&
      (length < least || before.to_ms - before.from_ms < least) &&
      piece.to_ms - before.from_ms < 2 * least;
    if (!joins) kept.push({ ...piece, longest: length });
    else {
      const longer = length > before.longest;
      Object.assign(before, {
        to_ms: piece.to_ms,
        merged: before.merged + piece.merged,
        last_step: piece.last_step ?? before.last_step,
        ...(longer ? { kind: piece.kind, detail: piece.detail, longest: length } : {}),
      });
    }
  }
  return kept;
}

function titleOf({ kind, detail, from_ms, to_ms, first_step, last_step, merged: count }: Merged): string {
  const what = detail === "" ? kindText(kind) : `${kindText(kind)} (${detail.replaceAll("_", " ")})`;
  const steps =
    first_step !== null && last_step !== null && last_step > first_step
      ? `, steps ${first_step} to ${last_step}`
      : "";
  const many = count > 1 ? `; ${count} short pieces, mostly this` : "";
  return `${what}, ${formatDuration((to_ms - from_ms) / 1000)}${steps}${many}`;
}

/** "steps that count 83 %, launching 4 %": the text of a bar for readers who do not see it. */
export function describeParts(parts: readonly Part[]): string {
  const whole = sumOf(parts);
  return parts.map(({ kind, ms }) => `${kindText(kind)} ${formatShare(ms / whole)}`).join(", ");
}

export type LedgerBy = LedgerTable["by"];

/** The page of a row of the cluster's ledger; null: there is none. */
export function rowHref(by: LedgerBy, { key }: LedgerRow): string | null {
  if (by === "job") return `#/jobs/${key}?tab=ledger`;
  if (by === "experiment") return `#/experiments/${key}`;
  if (by === "account") return `#/jobs?q=account:${key}`;
  return by === "node" && key !== "" ? "#/nodes" : null;
}

export function rowName(by: LedgerBy, { key, name }: LedgerRow): string {
  if (by === "job" || by === "experiment") return `${key} ${name}`;
  return by === "node" && key === "" ? "no node, while jobs waited" : key;
}

export function tableSentence({ all, by }: LedgerTable, range: string): string {
  const hours = formatDeviceHours(all.held_device_ms);
  if (all.held_device_ms === 0) return `No devices were held ${range}.`;
  const counted =
    all.goodput === null
      ? "how much of them counted is not known"
      : `steps that count took ${formatShare(all.goodput)} of them`;
  const jobs = by === "job" ? "Jobs" : `${formatCount(all.jobs)} ${all.jobs === 1 ? "job" : "jobs"}`;
  return `${jobs} held ${hours} device hours ${range}; ${counted}.`;
}

export const goodputRule =
  "Goodput = device time of steps that count / (device time held − running − unknown). Waiting and " +
  "backing off hold no devices. Running is the time of programs that report no steps; what it and unknown time moved forward is not known.";

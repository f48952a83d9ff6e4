// The record board: the records of each class of runs, how they fell, and why a run sets none. Pure.
import type { Benchmark, BoardClass, BoardRecord, BoardRun, Source } from "../api/types";
import { formatChange, formatCount } from "../format/numbers";
import { formatDuration } from "../format/times";

/** The kind and number of devices; it names the class in the address. */
export const classKey = ({ device, devices }: Pick<BoardClass, "device" | "devices">) =>
  `${devices} × ${device}`;

export const holderOf = ({ records }: Pick<BoardClass, "records">): BoardRecord => records.at(-1)!;

export const fallText = ({ improvement }: BoardRecord) =>
  improvement === null ? "first" : formatChange(-improvement);

/** "1f0c2ab4e5 with changes"; null: not recorded. */
export function commitText(source: Source | null): string | null {
  if (!source?.commit) return null;
  return source.commit.slice(0, 10) + (source.dirty ? " with changes" : "");
}

export const runsText = ({ runs, excluded }: Pick<Benchmark, "runs" | "excluded">) =>
  `${formatCount(runs)} ${runs === 1 ? "run" : "runs"}${excluded > 0 ? `, ${formatCount(excluded)} set no record` : ""}`;

/** The class of a benchmark with the best time; null if there is none. */
export const fastest = (classes: readonly BoardClass[]): BoardClass | null =>
  classes.reduce<BoardClass | null>(
    (best, each) => (best === null || holderOf(each).seconds < holderOf(best).seconds ? each : best),
    null,
  );

export interface RecordRow {
  of: BoardClass;
  record: BoardRecord;
  holds: boolean;
}

/** The records by class, the newest first. */
export const recordRows = (classes: readonly BoardClass[]): RecordRow[] =>
  classes.flatMap((of) =>
    of.records.map((record) => ({ of, record, holds: record === holderOf(of) })).reverse(),
  );

/** How a run relates to the records. */
export interface Standing {
  kind: "holds" | "held" | "slower" | "excluded";
  /** Clauses without full stops. */
  why: string[];
  /** The job to compare with: for a record, the one before; else the record of the class. */
  rival: number | null;
}

export function standingOf(run: BoardRun, classes: readonly BoardClass[]): Standing {
  if (run.excluded.length > 0) return { kind: "excluded", why: run.excluded, rival: null };
  const of = classes.find((each) => each.device === run.device_models[0] && each.devices === run.devices[0]);
  if (!of) return { kind: "excluded", why: ["the board has no record for its devices"], rival: null };
  const place = of.records.findIndex(({ job }) => job === run.job);
  if (place >= 0) {
    const [before, after] = [of.records[place - 1], of.records[place + 1]];
    return after
      ? { kind: "held", why: [`job ${after.job} was faster`], rival: after.job }
      : { kind: "holds", why: [], rival: before?.job ?? null };
  }
  const then = of.records.filter(({ reached_ms }) => reached_ms <= run.reached_ms).at(-1) ?? of.records[0]!;
  const why =
    run.seconds === then.seconds
      ? `as fast as job ${then.job}, which came first`
      : `slower than job ${then.job}, which took ${formatDuration(then.seconds)}`;
  return { kind: "slower", why: [why], rival: holderOf(of).job };
}

/** A step curve from the first record to now, as the path of an SVG; null if there is no record. */
export function stepPath(
  { records }: Pick<BoardClass, "records">,
  nowMs: number,
  [width, height]: readonly [number, number],
): string | null {
  const [first] = records;
  if (!first) return null;
  const span = Math.max(1, nowMs - first.reached_ms);
  const slowest = first.seconds;
  const drop = Math.max(1e-9, slowest - records.at(-1)!.seconds);
  const x = (ms: number) => ((width * (ms - first.reached_ms)) / span).toFixed(1);
  const y = (seconds: number) =>
    (records.length === 1 ? height / 2 : (height * (slowest - seconds)) / drop).toFixed(1);
  const steps = records.slice(1).map((record) => `H${x(record.reached_ms)}V${y(record.seconds)}`);
  return `M0 ${y(slowest)}${steps.join("")}H${width}`;
}

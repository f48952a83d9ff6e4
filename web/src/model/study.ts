// How a study of sizes is read: its rows in words, the sizes that have none, and published figures beside them. Pure.
import type { PublishedRow, ScalingRow, ScalingTable, Study, StudyMember } from "../api/types";
import { formatNumber, formatPlain } from "../format/numbers";
import { formatDuration } from "../format/times";

/** "training.optimizer.lr" is known as "lr". */
export const shortPath = (path: string) => path.split(".").pop()!;

const textOf = (value: unknown) =>
  typeof value === "number"
    ? formatPlain(value, 12)
    : typeof value === "string"
      ? value
      : JSON.stringify(value);

/** "lr 0.001, batch 64"; "" where nothing is swept. */
export const parametersText = (parameters: Record<string, unknown>) =>
  Object.entries(parameters)
    .map(([path, value]) => `${shortPath(path)} ${textOf(value)}`)
    .join(", ");

/** Beside them a sweep says how many trials it draws and how they are judged. */
const isOfSweep = (key: string) => ["trials", "seed", "asha"].includes(key);

export const sweptPaths = (sweep: Study["sweep"]) =>
  Object.keys(sweep ?? {}).filter((key) => !isOfSweep(key));

export const devicesText = (count: number) => (count === 1 ? "1 device" : `${formatPlain(count)} devices`);

/** In what throughput is told: of programs that tell no samples, in tokens. */
export type RateUnit = "samples" | "tokens";

export const rateUnit = ({ tables }: Pick<Study, "tables">): RateUnit =>
  tables.some(({ rows }) => rows.some(({ samples_per_second: rate }) => rate !== null))
    ? "samples"
    : "tokens";

export const rateOf = (row: ScalingRow, unit: RateUnit) =>
  unit === "samples" ? row.samples_per_second : row.tokens_per_second;

const sameParameters = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([path, value]) => JSON.stringify(b[path]) === JSON.stringify(value));

export const membersOf = (study: Study, table: ScalingTable) =>
  study.members.filter(({ parameters }) => sameParameters(parameters, table.parameters));

/** A size of which no run has ended with success or is under way with figures. */
export interface MissingSize {
  devices: number;
  /** "failed", "queued": of its members the state that says most. */
  state: StudyMember["state"];
  members: StudyMember[];
}

const states: StudyMember["state"][] = [
  "failed",
  "cancelled",
  "running",
  "starting",
  "stopping",
  "queued",
  "succeeded",
];

export function missingSizes(study: Study, table: ScalingTable): MissingSize[] {
  const bySize = new Map<number, StudyMember[]>();
  for (const member of membersOf(study, table))
    bySize.set(member.devices, [...(bySize.get(member.devices) ?? []), member]);
  for (const { devices } of table.rows) bySize.delete(devices);
  return [...bySize]
    .sort(([a], [b]) => a - b)
    .map(([devices, members]) => ({
      devices,
      members,
      state: states.find((state) => members.some((member) => member.state === state))!,
    }));
}

/** The least and the largest time to train of a row's runs; null of fewer than two. */
export function timeSpread(study: Study, { jobs }: ScalingRow): { low: number; high: number } | null {
  const times = study.members
    .filter(({ job }) => jobs.includes(job))
    .flatMap(({ time_to_train_seconds: seconds }) => (seconds === null ? [] : [seconds]));
  return times.length > 1 ? { low: Math.min(...times), high: Math.max(...times) } : null;
}

const alike = (a: number, b: number) => Math.abs(a - b) <= 0.01 * Math.abs(b);

/**
 * How long each size would take at linear throughput: less time the more devices, but as long as the base where the
 * samples grow with the devices, as without a target in weak scaling.
 */
export function idealTime(table: ScalingTable): ((devices: number) => number) | null {
  const base = table.rows.find(({ devices }) => devices === table.base);
  if (!base?.time_to_train_seconds) return null;
  const { devices: from, time_to_train_seconds: time, samples_to_target: samples } = base;
  const others = table.rows.filter((row) => row !== base && row.samples_to_target !== null);
  const grows =
    samples !== null &&
    others.length > 0 &&
    others.every((row) => alike(row.samples_to_target! / samples, row.devices / from));
  return (devices) => (grows ? time : (time * from) / devices);
}

const secondsIn: Record<string, number> = { h: 3600, min: 60, s: 1 };

export type PublishedMeasure = "time" | "rate" | "efficiency";

/** What a published figure may be drawn beside, in the unit of that chart; null: beside nothing of a study. */
export function publishedPlace(
  { value, unit, devices }: PublishedRow,
  rate: RateUnit,
): { measure: PublishedMeasure; value: number } | null {
  const seconds = secondsIn[unit];
  if (seconds !== undefined) return { measure: "time", value: value * seconds };
  if (unit === "% of linear") return { measure: "efficiency", value: value / 100 };
  if (rate === "samples" && unit === "sequences/s") return { measure: "rate", value };
  if (rate === "tokens" && unit === "tokens/s") return { measure: "rate", value };
  if (rate === "tokens" && unit === "tokens/s/device") return { measure: "rate", value: value * devices };
  return null;
}

export const publishedValue = ({ value, unit }: PublishedRow) =>
  secondsIn[unit] === undefined ? `${formatPlain(value)} ${unit}` : formatDuration(value * secondsIn[unit]);

/** What it was measured on and with, so that nobody takes it for a run like one's own. */
export const publishedTags = ({ hardware, precision, batch, date, runs }: PublishedRow): string[] => [
  hardware,
  ...(precision === null ? [] : [precision]),
  ...(batch === null ? [] : [`batch ${formatPlain(batch, 9)}`]),
  ...(runs === null ? [] : [`${runs} runs`]),
  date,
];

export const benchmarksOf = (rows: readonly PublishedRow[]): string[] => [
  ...new Set(rows.map(({ benchmark }) => benchmark)),
];

/** "Published: 77 % of linear on 8 × DGX-2H (2019)": of what compares best, that of most devices. */
export function publishedSentence(rows: readonly PublishedRow[], rate: RateUnit): string {
  for (const measure of ["efficiency", "time", "rate"] as const) {
    const fitting = rows.filter((row) => publishedPlace(row, rate)?.measure === measure);
    const most = fitting.reduce<PublishedRow | null>(
      (best, row) => (best === null || row.devices > best.devices ? row : best),
      null,
    );
    if (most)
      return `Published: ${publishedValue(most)} on ${formatPlain(most.devices, 9)} × ${most.hardware}, ${most.date}`;
  }
  return rows.length === 0 ? "" : "Of what was published nothing is measured in the units of these charts.";
}

export const rateText = (value: number, unit: RateUnit) =>
  `${formatNumber(value)} ${unit === "samples" ? "samples/s" : "tokens/s"}`;

/** What must be known before any figure is believed, said once. */
export const studyMarks = (study: Study): string[] => {
  const artificial = study.members.filter((member) => member.artificial).length;
  return [
    ...(study.tables.some(({ slots_share_cores: share }) => share)
      ? ["The devices are CPU slots, which may share cores, caches and memory: they do not scale as GPUs do."]
      : []),
    ...(artificial > 0
      ? [
          `${artificial === study.members.length ? "All" : artificial} of its jobs ran on artificial devices: their figures are no measurements.`,
        ]
      : []),
  ];
};

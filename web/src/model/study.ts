// A study of sizes: its rows in words, the sizes without a row, and published results beside them. Pure.
import type { PublishedRow, ScalingRow, ScalingTable, Study, StudyMember } from "../api/types";
import { formatNumber, formatPlain } from "../format/numbers";
import { formatDuration } from "../format/times";

/** "training.optimizer.lr" is shown as "lr". */
export const shortPath = (path: string) => path.split(".").pop()!;

const textOf = (value: unknown) =>
  typeof value === "number"
    ? formatPlain(value, 12)
    : typeof value === "string"
      ? value
      : JSON.stringify(value);

/** "lr 0.001, batch 64"; "" if nothing is swept. */
export const parametersText = (parameters: Record<string, unknown>) =>
  Object.entries(parameters)
    .map(([path, value]) => `${shortPath(path)} ${textOf(value)}`)
    .join(", ");

/** Keys of a sweep that are not parameters: the number of trials, their seed, and how they are judged. */
const isOfSweep = (key: string) => ["trials", "seed", "asha"].includes(key);

export const sweptPaths = (sweep: Study["sweep"]) =>
  Object.keys(sweep ?? {}).filter((key) => !isOfSweep(key));

export const devicesText = (count: number) => (count === 1 ? "1 device" : `${formatPlain(count)} devices`);

/** The unit of throughput: tokens for programs that report no samples. */
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

/** A size without a successful run and without a run that has figures. */
export interface MissingSize {
  devices: number;
  /** "failed", "queued": the most telling state of its members. */
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

/** The shortest and the longest time to train of a row's runs; null for fewer than two. */
export function timeSpread(study: Study, { jobs }: ScalingRow): { low: number; high: number } | null {
  const times = study.members
    .filter(({ job }) => jobs.includes(job))
    .flatMap(({ time_to_train_seconds: seconds }) => (seconds === null ? [] : [seconds]));
  return times.length > 1 ? { low: Math.min(...times), high: Math.max(...times) } : null;
}

const alike = (a: number, b: number) => Math.abs(a - b) <= 0.01 * Math.abs(b);

/**
 * The time that each size would take at linear throughput: with more devices it is shorter. If the samples grow
 * with the devices (weak scaling without a target), it is as long as that of the base.
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

/** Where a published figure may be drawn, in the unit of that chart; null: nowhere in a study. */
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

/** What the figure was measured on and with, so that it does not look like one's own run. */
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

/** "Published: 77 % of linear on 8 × DGX-2H (2019)": of the figures that compare best, the one with the most devices. */
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
  return rows.length === 0 ? "" : "No published result has the units of these charts.";
}

export const rateText = (value: number, unit: RateUnit) =>
  `${formatNumber(value)} ${unit === "samples" ? "samples/s" : "tokens/s"}`;

/** What the reader must know before trusting any figure, said once. */
export const studyMarks = (study: Study): string[] => {
  const artificial = study.members.filter((member) => member.artificial).length;
  return [
    ...(study.tables.some(({ slots_share_cores: share }) => share)
      ? ["The devices are CPU slots, which may share cores, caches and memory: they do not scale as GPUs do."]
      : []),
    ...(artificial > 0
      ? [
          `${artificial === study.members.length ? "All" : artificial} of its jobs ran on artificial devices: their figures are not measurements.`,
        ]
      : []),
  ];
};

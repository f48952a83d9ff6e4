// Why a job waits, and until when, in words.
import type { Blocker, Sooner, StartForecast } from "../api/types";
import { formatPercent } from "../format/numbers";
import { formatDuration } from "../format/times";

/** The part of a job's reason before its first blocker, which says why the job waits again. */
export function reasonBeside(reason: string, [first]: readonly Pick<Blocker, "sentence">[]): string {
  if (!first || !reason.endsWith(first.sentence)) return reason;
  return reason.slice(0, reason.length - first.sentence.length).replace(/; $/, "");
}

/** "in 2h 5m", "now"; "unknown" if the forecast found no start. */
export function untilStart(ms: number | null, nowMs: number): string {
  if (ms === null) return "unknown";
  const seconds = Math.round((ms - nowMs) / 1000);
  return seconds < 1 ? "now" : `in ${formatDuration(seconds)}`;
}

/** "between 40m and 10h": how sure the expected start is. */
export function startRange(start: StartForecast, nowMs: number): string {
  const { earliest_ms: earliest, latest_ms: latest } = start;
  const after = (ms: number) => (ms - nowMs < 1000 ? "now" : formatDuration(Math.round((ms - nowMs) / 1000)));
  if (earliest === null) return "";
  if (latest === null) return `${after(earliest)} at the earliest`;
  if (latest - earliest < 1000) return "";
  return `between ${after(earliest)} and ${after(latest)}`;
}

/** The assumptions of the forecast. */
export function basisOf({ basis }: StartForecast): string {
  const share = `${formatPercent(basis.expected_share)} of their walltime`;
  const from =
    basis.ended_jobs > 0
      ? `the median of the last ${basis.ended_jobs} jobs`
      : "the default until ten jobs have run to their end";
  const paced =
    basis.jobs_with_pace > 0
      ? `; ${basis.jobs_with_pace} running ${basis.jobs_with_pace === 1 ? "job goes" : "jobs go"} on at their pace`
      : "";
  return `The expected start assumes that jobs take ${share}, ${from}${paced}. The latest assumes that every job takes all of it.`;
}

/** "resources.devices: 4", "no resources.within": lines of the spec. */
export const settingsOf = ({ set }: Sooner) =>
  Object.entries(set).map(([path, value]) => {
    if (value === null) return `no ${path}`;
    return `${path}: ${typeof value === "object" ? JSON.stringify(value) : value}`;
  });

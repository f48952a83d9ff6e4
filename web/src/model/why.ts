// Why a job waits and until when, in words.
import type { Blocker, Sooner, StartForecast } from "../api/types";
import { formatDuration } from "../format/times";

/** What a job's reason says beside its blockers: why it came to wait again, which goes before the first of them. */
export function reasonBeside(reason: string, [first]: readonly Pick<Blocker, "sentence">[]): string {
  if (!first || !reason.endsWith(first.sentence)) return reason;
  return reason.slice(0, reason.length - first.sentence.length).replace(/; $/, "");
}

/** "in 2h 5m", "now"; "unknown" where the forecast found none. */
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

/** What the forecast rests on. */
export function basisOf({ basis }: StartForecast): string {
  const share = `${Math.round(basis.expected_share * 100)}% of their walltime`;
  const from =
    basis.ended_jobs > 0
      ? `as half of the last ${basis.ended_jobs} jobs took at most`
      : "assumed until ten jobs have run to their end";
  const paced =
    basis.jobs_with_pace > 0
      ? `; ${basis.jobs_with_pace} running ${basis.jobs_with_pace === 1 ? "job goes" : "jobs go"} on at their pace`
      : "";
  return `Expected if jobs take ${share}, ${from}${paced}; latest if every job takes all of it.`;
}

/** "resources.devices: 4", "no resources.within": lines of the spec. */
export const settingsOf = ({ set }: Sooner) =>
  Object.entries(set).map(([path, value]) => {
    if (value === null) return `no ${path}`;
    return `${path}: ${typeof value === "object" ? JSON.stringify(value) : value}`;
  });

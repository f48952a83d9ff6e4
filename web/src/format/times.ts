// Durations, ages and moments in words that are short enough for a table. Pure.

export const dayMs = 86_400_000;

const units: [seconds: number, letter: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
];

/** The two largest units: "2h 5m", "48s". */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  let rest = Math.max(0, seconds);
  if (rest === 0) return "0s";
  if (rest < 10) return `${rest.toFixed(rest < 1 ? 2 : 1).replace(/\.0$/, "")}s`;
  rest = Math.round(rest);
  const first = units.findIndex(([size]) => rest >= size);
  const parts: string[] = [];
  for (const [size, letter] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${letter}`);
  }
  return parts.join(" ");
}

/** "12s ago", "3h ago": one unit, because ages are compared at a glance. */
export function formatAge(timeMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - timeMs) / 1000);
  if (seconds < 2) return "now";
  const [size, letter] = units.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)}${letter} ago`;
}

const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
// Making a format takes far longer than using it.
const absolute = new Intl.DateTimeFormat(undefined, {
  ...{ year: "numeric", month: "short", day: "numeric" },
  ...time,
  ...{ second: "2-digit", timeZoneName: "short" },
});
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", month: "short", day: "numeric" });
const minute = new Intl.DateTimeFormat(undefined, time);
const clock = new Intl.DateTimeFormat(undefined, { ...time, second: "2-digit" });

/** In the reader's zone, with its name. */
export const formatAbsolute = (timeMs: number) => absolute.format(timeMs);

/** The time alone within half a day of now, else the day too. */
export const formatMoment = (timeMs: number, nowMs: number) =>
  Math.abs(nowMs - timeMs) < dayMs / 2 ? formatClock(timeMs) : `${formatDay(timeMs)}, ${formatClock(timeMs)}`;

export const formatDay = (timeMs: number) => day.format(timeMs);

export const formatMinute = (timeMs: number) => minute.format(timeMs);

export const formatClock = (timeMs: number) => clock.format(timeMs);

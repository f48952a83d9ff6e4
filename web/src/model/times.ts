// Durations and ages in words short enough for a table.

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

export const formatAbsolute = (timeMs: number) =>
  new Date(timeMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function formatClock(timeMs: number): string {
  return new Date(timeMs).toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  });
}

// How long to wait before asking a silent coordinator again: 1, 2, 4, 8, then every 15 seconds, spread by a quarter so
// that many open dashboards do not return in the same instant.

const ceilingMs = 15_000;

export function backoffMs(failures: number, random: number): number {
  const base = Math.min(ceilingMs, 1000 * 2 ** Math.max(0, failures - 1));
  return Math.round(base * (0.875 + random * 0.25));
}

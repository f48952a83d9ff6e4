// The time of the page, by the coordinator's clock. Ages and countdowns read `now`, which ticks once a second while the page
// is visible. What need not follow every second, such as whether a window has begun, reads `coarseNow`.
import { computed, signal } from "@preact/signals";
import { serverNow } from "../api/server_clock";

const coarseMs = 10_000;

export const now = signal(serverNow());
export const coarseNow = computed(() => Math.floor(now.value / coarseMs) * coarseMs);

function tick(): void {
  if (!document.hidden) now.value = serverNow();
}

export function startClock(): void {
  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", tick);
}

// The one clock of the page: relative times read `now`, which ticks once a second while the page is visible. It is the
// coordinator's clock, whose times it is compared with.
import { signal } from "@preact/signals";
import { serverClock } from "../api/server_clock";

export const now = signal(Date.now());

function tick(): void {
  if (!document.hidden) now.value = Date.now() + serverClock.aheadMs;
}

export function startClock(): void {
  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", tick);
}

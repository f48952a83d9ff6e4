// The clock for what need not follow every second, such as whether a window has begun.
import { computed } from "@preact/signals";
import { now } from "../state/clock";

const stepMs = 10_000;

export const coarseNow = computed(() => Math.floor(now.value / stepMs) * stepMs);

// The entries of the attention list that the reader has hidden for a day, in this browser. The day runs by the coordinator's
// clock.
import { signal, type ReadonlySignal } from "@preact/signals";
import { deviceStorage } from "../api/storage";
import { dayMs } from "../format/times";
import { readHidden, writeHidden } from "../model/overview";
import { now } from "./clock";

const storageKey = "podium.attention.hidden";

const until = signal<ReadonlyMap<string, number>>(readHidden(deviceStorage.get(storageKey), -Infinity));

/** By key: the time at which hiding ends. */
export const hiddenUntil: ReadonlySignal<ReadonlyMap<string, number>> = until;

/** It starts from the stored entries, because another tab may have hidden something meanwhile. */
function change(edit: (hidden: Map<string, number>) => void): void {
  const hidden = readHidden(deviceStorage.get(storageKey), now.peek());
  edit(hidden);
  deviceStorage.set(storageKey, writeHidden(hidden));
  until.value = hidden;
}

export const hideForADay = (key: string) => change((hidden) => hidden.set(key, now.peek() + dayMs));

export const showAgain = (key: string) => change((hidden) => hidden.delete(key));

// The key of a draft. If the answer to a submission is lost, the submission is repeated under the same key, even after a
// visit to another page or a reload, and queues nothing twice. A spec that was changed or submitted is another draft.
import { tabStorage } from "../api/storage";

const storageKey = "podium.draft.key";

interface Known {
  spec: string;
  key: string;
}

function known(): Known | null {
  const text = tabStorage.get(storageKey);
  return text === null ? null : (JSON.parse(text) as Known);
}

export function draftKey(spec: string): string {
  const before = known();
  if (before?.spec === spec) return before.key;
  const key = randomKey();
  tabStorage.set(storageKey, JSON.stringify({ spec, key }));
  return key;
}

export const draftSubmitted = () => tabStorage.remove(storageKey);

/** crypto.randomUUID exists on https and localhost only. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

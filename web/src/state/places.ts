// What the reader had before them at each entry of the browser's history: how far they had scrolled, which row was
// current. Back finds it again; a new entry starts without.

const places = new Map<number, Map<string, unknown>>();
const mostPlaces = 100;
let newest = 0;
let shown = 0;

/** The entry whose page is shown, read from the browser's history; a new one gets a number there. */
export function enterPlace(): number {
  const known = (history.state as { place?: number } | null)?.place;
  shown = known ?? (newest = Math.max(newest, ...places.keys()) + 1);
  if (known === undefined) history.replaceState({ place: shown }, "");
  if (!places.has(shown)) places.set(shown, new Map());
  forgetOldest();
  return shown;
}

function forgetOldest(): void {
  for (const old of places.keys()) if (places.size > mostPlaces) places.delete(old);
}

/** Another entry that begins as this one was left; its state for the browser's history. */
export function continuePlace(): { place: number } {
  const before = places.get(shown);
  shown = newest = Math.max(newest, ...places.keys()) + 1;
  places.set(shown, new Map(before));
  forgetOldest();
  return { place: shown };
}

export function remember(name: string, value: unknown, place = shown): void {
  places.get(place)?.set(name, value);
}

export const recall = <T>(name: string): T | undefined => places.get(shown)?.get(name) as T | undefined;

// The reader's place at each entry of the browser's history: how far the page was scrolled, which row was current. Back
// restores it; a new entry starts without one.

const places = new Map<number, Map<string, unknown>>();
const mostPlaces = 100;
let newest = 0;
let shown = 0;

/** The entry whose page is shown, from the state of the browser's history. A new entry gets a number. */
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

/** Makes another entry that starts with the place of this one. Returns its state for the browser's history. */
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

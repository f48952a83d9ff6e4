// The address bar is the state: `#/jobs/12?x=time`. Pages read `route` and change it with `setParams`, so that every
// view can be linked to, reloaded and left with the Back button.
import { batch, signal } from "@preact/signals";
import { jobOfRunPath } from "../model/run_address";
import { continuePlace, enterPlace } from "./places";

export interface Route {
  path: string[];
  params: URLSearchParams;
}

export function parseHash(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(safeDecode), params: new URLSearchParams(query) };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function formatHash(route: Route): string {
  // Colons and commas are legal in a fragment and far easier to read than their escapes.
  const query = route.params.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2F/g, "/");
  return `#/${route.path.map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

/** `null` and "" remove a parameter. */
export function withParams(route: Route, changes: Record<string, string | null>): Route {
  const params = new URLSearchParams(route.params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") params.delete(name);
    else params.set(name, value);
  }
  return { path: route.path, params };
}

export const route = signal<Route>({ path: [], params: new URLSearchParams() });

/** The number of the entry in the browser's history: another number is another entry, even with the same address. */
export const place = signal(0);

export function startRouter(): void {
  const read = () =>
    batch(() => {
      place.value = enterPlace();
      route.value = settled(parseHash(location.hash));
    });
  addEventListener("hashchange", read);
  read();
}

/** The address that MLflow's clients print of a run becomes that of its job. */
function settled(read: Route): Route {
  const job = jobOfRunPath(read.path);
  if (job === null) return read;
  const jobs = { path: ["jobs", String(job)], params: read.params };
  history.replaceState(history.state, "", formatHash(jobs));
  return jobs;
}

export function navigate(hash: string): void {
  location.hash = hash;
}

/** A new entry in the browser's history, so that Back undoes it. The page keeps its scroll position. */
export function pushParams(changes: Record<string, string | null>): void {
  const next = withParams(route.value, changes);
  const state = continuePlace();
  history.pushState(state, "", formatHash(next));
  batch(() => {
    place.value = state.place;
    route.value = next;
  });
}

/** Replaces the history entry: typing into a filter must not fill the Back button's list. */
export function setParams(changes: Record<string, string | null>): void {
  route.value = withParams(route.value, changes);
  history.replaceState(history.state, "", formatHash(route.value));
}

// The address bar is the state: `#/jobs/12?x=time`. Pages read `route` and change it with `setParams`, so that every
// view can be linked to, reloaded and left with the Back button.
import { signal } from "@preact/signals";

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

export function startRouter(): void {
  const read = () => {
    route.value = parseHash(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}

export function navigate(hash: string): void {
  location.hash = hash;
}

/** Replaces the history entry: typing into a filter must not fill the Back button's list. */
export function setParams(changes: Record<string, string | null>): void {
  route.value = withParams(route.value, changes);
  history.replaceState(null, "", formatHash(route.value));
}

// How all charts of a job are drawn: x axis, y scale, smoothing, hidden curves. The address has what differs from the
// defaults.
import type { XAxis } from "../model/series";

const axes = ["step", "time"] as const satisfies XAxis[];

export interface ChartSettings {
  axis: XAxis;
  logarithmic: boolean;
  /** The weight of the moving average; 0 draws the points as measured. */
  smooth: number;
  /** Curves that are shown by default and hidden by the reader, and the other way round. */
  flips: ReadonlySet<string>;
  /** Charts that are shown as tables. */
  tables: ReadonlySet<string>;
}

/** `axis`: what the x axis is where the address does not say. */
export function settingsFrom(params: URLSearchParams, axis: XAxis): ChartSettings {
  const smooth = Number(params.get("smooth") ?? 0);
  return {
    axis: axes.find((each) => each === params.get("x")) ?? axis,
    logarithmic: params.get("y") === "log",
    smooth: smooth > 0 && smooth < 1 ? smooth : 0,
    flips: readSet(params.get("flip")),
    tables: readSet(params.get("table")),
  };
}

/** Names in the address: they are separated by commas, and commas within a name are escaped. */
function readSet(text: string | null): Set<string> {
  return new Set((text ?? "").split(",").filter(Boolean).map(unescapeComma));
}

const unescapeComma = (name: string) => name.replace(/~[~c]/g, (pair) => (pair === "~c" ? "," : "~"));
const escapeComma = (name: string) => name.replaceAll("~", "~~").replaceAll(",", "~c");

export function flipped(flips: ReadonlySet<string>, key: string): string {
  const next = new Set(flips);
  if (!next.delete(key)) next.add(key);
  return [...next].sort().map(escapeComma).join(",");
}

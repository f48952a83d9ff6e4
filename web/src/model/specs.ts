// The state of the specs in git; those that need attention come first.
import type { SpecFile } from "../api/types";
import { readProblems } from "./spec_problems";

export type SpecState = SpecFile["state"];
export const specStates = ["refused", "submitted", "left"] as const satisfies readonly SpecState[];

export function countSpecs(specs: readonly SpecFile[]): Record<SpecState, number> {
  const counts = { refused: 0, submitted: 0, left: 0 };
  for (const { state } of specs) counts[state] += 1;
  return counts;
}

export interface SpecFilter {
  text: string;
  states: ReadonlySet<SpecState>;
}

export function specFilterFrom(params: URLSearchParams): SpecFilter {
  const wanted = (params.get("state") ?? "").split(",");
  return {
    text: params.get("q") ?? "",
    states: new Set(specStates.filter((state) => wanted.includes(state))),
  };
}

export const toggledSpecState = (states: ReadonlySet<SpecState>, state: SpecState): string =>
  specStates.filter((each) => states.has(each) !== (each === state)).join(",");

/** If no state is chosen, all specs are shown; refused ones come first. */
export function shownSpecs(specs: readonly SpecFile[], { text, states }: SpecFilter): SpecFile[] {
  const part = text.toLowerCase();
  return specs
    .filter(
      ({ path, state }) => path.toLowerCase().includes(part) && (states.size === 0 || states.has(state)),
    )
    .sort((a, b) => specStates.indexOf(a.state) - specStates.indexOf(b.state) || (a.path < b.path ? -1 : 1));
}

/** "line 12, column 3", or the coordinator's own words for another place. */
export function placeOf(problem: SpecFile["problems"][number]): string {
  const { line, column } = readProblems([problem])[0]!;
  if (line === null) return problem.where;
  return column === null ? `line ${line}` : `line ${line}, column ${column}`;
}

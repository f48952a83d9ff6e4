// A filter by state: a chip for each state with its count. Several can be pressed.
import type { ComponentChildren } from "preact";
import { formatCount } from "../format/numbers";
import { setParams } from "../state/router";

interface Properties<State extends string> {
  states: readonly State[];
  chosen: ReadonlySet<State>;
  /** A state without rows may be absent. */
  counts: Partial<Record<State, number>>;
  icon(state: State): ComponentChildren;
  className(state: State): string;
  toggled(state: State): string;
}

export function StateChips<State extends string>({
  states,
  chosen,
  counts,
  icon,
  className,
  toggled,
}: Properties<State>) {
  return (
    <div class="chips" role="group" aria-label="Filter by state">
      {states.map((state) => (
        <button
          key={state}
          type="button"
          class={`chip ${className(state)}`}
          aria-pressed={chosen.has(state)}
          onClick={() => setParams({ state: toggled(state) })}
        >
          {icon(state)}
          {state}
          <span class="chip-count number">{formatCount(counts[state] ?? 0)}</span>
        </button>
      ))}
    </div>
  );
}

// The mark of a job everywhere on the comparison page: its colour, dashed for jobs after the eighth.
import { colourAt } from "../charts/line";

export const isDashed = (slot: number) => slot >= 8;

export function Swatch({ slot }: { slot: number }) {
  return (
    <span
      class={isDashed(slot) ? "swatch swatch-dashed" : "swatch"}
      style={{ color: `var(${colourAt(slot)})` }}
      aria-hidden="true"
    />
  );
}

// A job as it is known everywhere on the page of a comparison: by its colour, and the dash that those after the eighth have.
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

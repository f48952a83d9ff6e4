// Colours of the style sheet for the canvas, read once for each theme.
import { dark } from "../state/theme";

let read = new Map<string, string>();
let readWhenDark: boolean | null = null;

export function colourOf(name: string): string {
  if (readWhenDark !== dark.value) read = new Map();
  readWhenDark = dark.value;
  const known = read.get(name);
  if (known !== undefined) return known;
  const colour = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  read.set(name, colour);
  return colour;
}

// Shortcuts that work everywhere. Lists add their own keys; nothing fires while somebody is typing or a dialog is open.
import { signal } from "@preact/signals";
import { navigate } from "./router";
import { nextTheme } from "./theme";

export const helpOpen = signal(false);

const destinations: Record<string, string> = {
  j: "#/jobs",
  q: "#/queue",
  n: "#/nodes",
  a: "#/accounts",
  e: "#/experiments",
  s: "#/submit",
};
const sequenceMs = 1000;
let goPressedMs = -Infinity;

export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (document.querySelector("dialog[open]")) return true;
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"))
  );
}

function onKeyDown(event: KeyboardEvent): void {
  if (isTyping(event)) return;
  const destination = destinations[event.key];
  if (destination && event.timeStamp - goPressedMs < sequenceMs) {
    navigate(destination);
    goPressedMs = -Infinity;
    event.stopImmediatePropagation();
  } else if (event.key === "g") {
    goPressedMs = event.timeStamp;
  } else if (event.key === "?") {
    helpOpen.value = true;
  } else if (event.key === "t") {
    nextTheme();
  } else if (event.key === "/") {
    const filter = document.querySelector<HTMLInputElement>("[data-filter]");
    if (!filter) return;
    event.preventDefault();
    filter.focus();
    filter.select();
  }
}

export function startKeyboard(): void {
  addEventListener("keydown", onKeyDown);
}

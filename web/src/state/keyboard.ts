// Shortcuts that work everywhere; lists add their own keys. No shortcut works while the reader types or a dialog is open.
// Single letters can be switched off for readers who control the browser by voice.
import { signal } from "@preact/signals";
import { deviceStorage } from "../api/storage";
import { navigate } from "./router";
import { nextTheme } from "./theme";

export const helpOpen = signal(false);

const storageKey = "podium.shortcuts";

export const shortcuts = signal(deviceStorage.get(storageKey) !== "off");

export function setShortcuts(on: boolean): void {
  shortcuts.value = on;
  if (on) deviceStorage.remove(storageKey);
  else deviceStorage.set(storageKey, "off");
}

const sequenceMs = 1000;
let goPressedMs = -Infinity;

function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (document.querySelector("dialog[open]")) return true;
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"))
  );
}

/**
 * Whether a key press is a shortcut: it is not typed into a field, and it is no single letter if those are switched
 * off.
 */
export const isShortcut = (event: KeyboardEvent) =>
  !isTyping(event) && (shortcuts.value || event.key.length > 1);

type Destinations = Readonly<Record<string, string>>;

function onKeyDown(event: KeyboardEvent, destinations: Destinations): void {
  if (!isShortcut(event)) return;
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

/** `destinations`: the address for each key after "g". */
export function startKeyboard(destinations: Destinations): void {
  addEventListener("keydown", (event) => onKeyDown(event, destinations));
}

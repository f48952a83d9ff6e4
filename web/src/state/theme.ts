// Light, dark or the system's choice. public/theme.js applies the stored choice before the first paint.
import { computed, effect, signal } from "@preact/signals";
import { deviceStorage } from "../api/storage";

export type Theme = "system" | "light" | "dark";

const storageKey = "podium.theme";
const systemDarkQuery = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(systemDarkQuery.matches);

function stored(): Theme {
  const value = deviceStorage.get(storageKey);
  return value === "light" || value === "dark" ? value : "system";
}

export const theme = signal<Theme>(stored());
/** The theme on the screen. Charts are drawn on canvas and have to be informed. */
export const dark = computed(() => (theme.value === "system" ? systemDark.value : theme.value === "dark"));

export function startTheme(): void {
  systemDarkQuery.addEventListener("change", (event) => {
    systemDark.value = event.matches;
  });
  effect(() => {
    if (theme.value === "system") deviceStorage.remove(storageKey);
    else deviceStorage.set(storageKey, theme.value);
    document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
  });
}

const order: Theme[] = ["system", "light", "dark"];

export function nextTheme(): void {
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
}

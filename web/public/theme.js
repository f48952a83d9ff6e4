// Runs before the first paint, so that the page never flashes in the other theme. state/theme.ts takes over from here.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("podium.theme");
  } catch {
    // The browser refuses its storage, so no theme is stored.
  }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();

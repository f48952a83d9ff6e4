// The dashboard's build. Everything ends up in dist/, which the coordinator serves under `default-src 'self'`:
// so no inline script or style, no data: URL, and paths relative to index.html.
import { defineConfig } from "vite";

const coordinator = process.env["PODIUM_COORDINATOR"] ?? "http://127.0.0.1:7070";

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy: { "/api": { target: coordinator, changeOrigin: true } } },
});

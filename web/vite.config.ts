// The dashboard's build. Everything ends up in dist/, which the coordinator serves under a strict content
// security policy: so no inline script, and paths relative to index.html. Beside each text file lies its gzipped
// form, which the coordinator sends to who accepts it.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const coordinator = process.env["PODIUM_COORDINATOR"] ?? "http://127.0.0.1:7070";

function pack(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) pack(path);
    else if (/\.(js|css|html|svg)$/.test(name))
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}

const packed: Plugin = { name: "gzip", apply: "build", closeBundle: () => pack("dist") };

// By name what is loaded together (tests/e2e/budget.test.ts): with the first page what all pages are made of, and with
// charts alone the library that draws them.
function chunkOf(id: string): string | undefined {
  if (id.includes("/uplot/")) return "uplot";
  return /\/src\/(api|format|frame|hooks|model|state|ui)\//.test(id) ? "common" : undefined;
}

export default defineConfig({
  base: "./",
  plugins: [packed],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { manualChunks: chunkOf } },
  },
  server: { proxy: { "/api": { target: coordinator, changeOrigin: true } } },
  // One process for all files: starting one for each takes longer than all tests.
  test: { include: ["test/**/*.test.ts"], isolate: false },
});

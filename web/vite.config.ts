// Builds the dashboard into dist/, which the coordinator serves under a strict content security policy: no inline
// scripts, and paths relative to index.html. Each text file has a gzipped copy, which the coordinator sends to clients
// that accept gzip.
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

// Names the chunks that load together (tests/e2e/budget.test.ts): the first page loads what all pages share; charts load
// the library that draws them.
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
  // One process runs all files: starting one for each takes longer than all tests.
  test: { include: ["test/**/*.test.ts"], isolate: false },
});

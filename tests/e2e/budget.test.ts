// The whole dashboard, every page of it, is under 200 kB as it goes over the wire.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { dist } from "./fake/static_files";

const budget = 200_000;

const filesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });

it("is under 200 kB gzipped in all", () => {
  const sizes = filesIn(dist)
    .filter((path) => !path.endsWith(".gz"))
    .map((path) => gzipSync(readFileSync(path), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`the dashboard is ${(total / 1000).toFixed(1)} kB gzipped in ${sizes.length} files`);
  expect(sizes.length).toBeGreaterThan(3);
  expect(total).toBeLessThan(budget);
});

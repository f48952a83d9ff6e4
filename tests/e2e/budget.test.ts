// What goes over the wire, gzipped: the first load, then what each page adds to it. The editor, the library that draws
// and what depends on it are files of their own, which pages with something to edit or to draw load; they are weighed apart.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { routes } from "../../web/src/routes";
import { dist } from "./fake/static_files";
import { samples } from "./support/pages";
import { badge, rows, useStage } from "./support/stage";

const firstLoad = 110_000;
const page = 15_000;
/** What it draws with is loaded after a page stands: files that stand on the library that draws, by one rule for all pages. */
const drawing = 15_000;
/** Whose samples have curves in sight. */
const drawingRoutes = ["jobs/:id", "compare"];
const apart: [name: RegExp, most: number][] = [
  [/\/editor-[^/]*\.js$/, 120_000],
  [/\/uplot-[^/]*\.js$/, 30_000],
];
/** What the first window and those around it may weigh, of however many. */
const openingJobs = 100_000;
const stage = useStage(200, 20, { studies: true });

/** The paths of static files, as they are asked for. */
function watchFiles(opened: Page): Set<string> {
  const files = new Set<string>();
  opened.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith("/api/")) files.add(pathname === "/" ? "/index.html" : pathname);
  });
  return files;
}

/** What a page draws with may come after it is ready. */
async function settled(files: Set<string>): Promise<void> {
  for (let before = -1; before !== files.size;) {
    before = files.size;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

const sizeOf = (file: string) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
const sum = (files: Iterable<string>) => [...files].reduce((total, file) => total + sizeOf(file), 0);
const isApart = (file: string) => apart.some(([name]) => name.test(file));

/** Whether a script cannot be loaded without the library that draws. */
function draws(file: string, seen = new Set<string>()): boolean {
  if (!file.endsWith(".js") || seen.has(file)) return false;
  seen.add(file);
  const text = readFileSync(join(dist, file), "utf8");
  const imported = [...text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)].map(
    ([, name]) => `/assets/${name}`,
  );
  return imported.some((name) => /\/uplot-/.test(name) || draws(name, seen));
}

describe("gzipped", () => {
  it("the first load is under 110 kB", async () => {
    const opened = await stage.open("#/nowhere");
    const files = watchFiles(opened);
    await opened.goto(`${stage.coordinator.url}/#/jobs`);
    await opened.reload();
    await opened.locator(".data-row").first().waitFor();
    console.log(`the first load is ${(sum(files) / 1000).toFixed(1)} kB in ${files.size} files`);
    expect(files.size).toBeGreaterThan(3);
    expect(sum(files)).toBeLessThan(firstLoad);
  });

  const firsts = routes.map(({ path }) => samples(stage.quickstart).find(({ route }) => route === path)!);

  it.each(firsts.filter(({ route }) => route !== "jobs"))(
    "$route adds less than 15 kB",
    async ({ route, hash, ready }) => {
      const opened = await stage.open("#/jobs");
      await opened.locator(".data-rows .data-row").first().waitFor();
      const files = watchFiles(opened);
      await opened.evaluate((to) => (location.hash = to), hash);
      await opened.locator(ready).first().waitFor();
      if (drawingRoutes.includes(route)) await opened.locator("canvas").first().waitFor();
      await settled(files);
      const added = [...files].filter((file) => !isApart(file));
      const drawn = added.filter((file) => draws(file));
      const own = added.filter((file) => !drawn.includes(file));
      console.log(
        `${route} adds ${(sum(own) / 1000).toFixed(1)} kB, draws with ${(sum(drawn) / 1000).toFixed(1)} kB`,
      );
      expect(own.length, "a page has a file of its own").toBeGreaterThan(0);
      expect(sum(own)).toBeLessThan(page);
      expect(sum(drawn)).toBeLessThan(drawing);
    },
  );

  it("what stands apart keeps its size, too", () => {
    const files = readdirSync(join(dist, "assets")).map((name) => `/assets/${name}`);
    for (const [name, most] of apart) {
      const file = files.find((each) => name.test(each));
      expect(file, String(name)).toBeDefined();
      expect(sizeOf(file!), file).toBeLessThan(most);
    }
  });
});

describe("of 10,000 jobs", () => {
  const many = useStage(9999);

  it("opening the list moves less than 100 kB before it is scrolled", async () => {
    const opened = await many.open("#/nowhere");
    await badge(opened).filter({ hasText: "Live" }).waitFor();
    const moved: number[] = [];
    opened.on("requestfinished", async (request) => {
      if (!request.url().includes("/api/")) return;
      const { responseBodySize, responseHeadersSize } = await request.sizes();
      moved.push(responseBodySize + responseHeadersSize);
    });
    await opened.evaluate(() => (location.hash = "#/jobs"));
    await rows(opened).first().waitFor();
    await opened.waitForTimeout(2000);
    const bytes = moved.reduce((total, each) => total + each, 0);
    console.log(`opening 10,000 jobs asks ${moved.length} times and moves ${(bytes / 1000).toFixed(1)} kB`);
    expect(bytes).toBeGreaterThan(5000);
    expect(bytes).toBeLessThan(openingJobs);
  });
});

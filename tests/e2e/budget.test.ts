// What goes over the wire, gzipped: the first load, then what each page adds to it. The editor, the charts and the
// library that draws them are files of their own, loaded where there is something to edit or to draw.
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
const apart: [name: RegExp, most: number][] = [
  [/\/editor-[^/]*\.js$/, 120_000],
  [/\/uplot-[^/]*\.js$/, 30_000],
  [/\/curves-[^/]*\.js$/, 15_000],
  [/\/overlay-[^/]*\.js$/, 15_000],
  [/\/chart-[^/]*\.js$/, 15_000],
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

const sizeOf = (file: string) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
const sum = (files: Iterable<string>) => [...files].reduce((total, file) => total + sizeOf(file), 0);
const isApart = (file: string) => apart.some(([name]) => name.test(file));

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
      const own = [...files].filter((file) => !isApart(file));
      console.log(`${route} adds ${(sum(own) / 1000).toFixed(1)} kB`);
      expect(own.length, "a page has a file of its own").toBeGreaterThan(0);
      expect(sum(own)).toBeLessThan(page);
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

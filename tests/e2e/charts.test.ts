// The charts of a job as a group with one range of x and one crosshair, whatever else changes; and every kind of chart.
import type { Page } from "playwright-core";
import { readFile } from "node:fs/promises";
import { build } from "vite";
import { describe, expect, it } from "vitest";
import { fileURLToPath } from "node:url";
import type { WireSeries } from "../../web/src/api/types";
import { useStage } from "./support/stage";

const stage = useStage(5);
const panels = ["Loss", "Target", "Accuracy", "Throughput"];
const panel = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

/** Pixels with the colour of a curve: grey is grid and text. */
const inked = (page: Page, title: string) =>
  panel(page, title)
    .locator("canvas")
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue] = [data[at]!, data[at + 1]!, data[at + 2]!];
        if (data[at + 3]! > 100 && Math.max(red, green, blue) - Math.min(red, green, blue) > 80) count += 1;
      }
      return count;
    });

async function everyChartHasCurves(page: Page, when: string): Promise<void> {
  for (const title of panels)
    await expect.poll(() => inked(page, title), { message: `${title} ${when}` }).toBeGreaterThan(150);
}

async function drag(page: Page, title: string): Promise<void> {
  const box = (await panel(page, title).locator(".u-over").boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.3, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
  await page.mouse.up();
}

const reset = (page: Page) => page.getByRole("button", { name: "Reset zoom" });

async function zoomed(): Promise<Page> {
  const page = await stage.open(`#/jobs/${stage.quickstart}`);
  await everyChartHasCurves(page, "at first");
  await drag(page, "Loss");
  await reset(page).waitFor();
  await everyChartHasCurves(page, "zoomed");
  return page;
}

describe("zoom", () => {
  it("then Wall-clock shows every chart whole: a range of steps is none of seconds", async () => {
    const page = await zoomed();
    await page.getByRole("button", { name: "Wall-clock" }).click();
    await reset(page).waitFor({ state: "detached" });
    await everyChartHasCurves(page, "by wall-clock");
  });

  it("outlives smoothing, scale, legend and theme, and no chart is empty after them", async () => {
    const page = await zoomed();
    await page.getByLabel("Smoothing").fill("0.6");
    await everyChartHasCurves(page, "smoothed");
    await page.getByRole("button", { name: "Log", exact: true }).click();
    await everyChartHasCurves(page, "logarithmic");
    await panel(page, "Accuracy").locator(".legend-entry").first().click();
    await everyChartHasCurves(page, "with a curve hidden");
    await page.getByRole("button", { name: /^Theme/ }).click();
    await page.getByRole("button", { name: /^Theme/ }).click();
    await everyChartHasCurves(page, "in the dark");
    expect(await reset(page).count()).toBe(1);
  });

  it("is undone for all charts by one button, by a double click on any, and by 0", async () => {
    const page = await zoomed();
    const table = panel(page, "Throughput").getByRole("table");
    await page.getByRole("button", { name: "Throughput as a table" }).click();
    const part = await table.getByRole("row").count();
    await reset(page).click();
    await expect.poll(() => table.getByRole("row").count()).toBeGreaterThan(part);
    expect(await reset(page).count()).toBe(0);
    await drag(page, "Loss");
    await reset(page).waitFor();
    await panel(page, "Accuracy").locator(".u-over").dblclick();
    await reset(page).waitFor({ state: "detached" });
    await drag(page, "Loss");
    await reset(page).waitFor();
    await page.keyboard.press("0");
    await reset(page).waitFor({ state: "detached" });
  });
});

it("constants are lines to compare with, and every chart names its axes in its table", async () => {
  const page = await stage.open(`#/jobs/${stage.quickstart}?table=loss`);
  const loss = panel(page, "Loss");
  await loss.getByRole("columnheader", { name: "step" }).waitFor();
  expect(await loss.getByRole("columnheader").allTextContents()).not.toContain("eval/unigram_loss");
  await loss.locator(".legend-entry", { hasText: "eval/unigram_loss" }).locator(".swatch-dashed").waitFor();
});

const saved = async (page: Page, title: string, as: string) => {
  const arriving = page.waitForEvent("download");
  await page.getByRole("button", { name: `Save ${title}` }).click();
  await page.getByRole("button", { name: `Save as ${as}` }).click();
  const download = await arriving;
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
};

it("a chart is saved as CSV and as a picture", async () => {
  const page = await stage.open(`#/jobs/${stage.quickstart}`);
  await everyChartHasCurves(page, "at first");
  const { name, content } = await saved(page, "Loss", "CSV");
  expect(name).toBe(`job-${stage.quickstart}-loss.csv`);
  expect(String(content)).toMatch(/^step,.*train\/loss.*\r\n10,/);
  const picture = await saved(page, "Loss", "PNG");
  expect(picture.name).toBe(`job-${stage.quickstart}-loss.png`);
  expect(picture.content.subarray(1, 4).toString()).toBe("PNG");
  expect(picture.content.length).toBeGreaterThan(5000);
  await page.getByRole("button", { name: "Loss as a table" }).click();
  await page.getByRole("button", { name: "Save Loss" }).click();
  expect(await page.getByRole("button", { name: "Save as PNG" }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Save as CSV" }).waitFor({ state: "detached" });
});

it("charts out of sight are not drawn", async () => {
  const page = await stage.open(`#/jobs/${stage.quickstart}`, { viewport: { width: 390, height: 500 } });
  await panel(page, "Loss").scrollIntoViewIfNeeded();
  await panel(page, "Loss").locator("canvas").waitFor();
  const last = page.locator(".chart-panel").last();
  expect(await last.locator("canvas").count()).toBe(0);
  await last.scrollIntoViewIfNeeded();
  await last.locator("canvas").waitFor();
});

it("the kit draws every kind, and labels keep within the canvas", async () => {
  const [bundle] = (await build({
    configFile: false,
    mode: "production",
    logLevel: "error",
    esbuild: { jsx: "automatic", jsxImportSource: "preact" },
    build: {
      write: false,
      lib: {
        entry: fileURLToPath(new URL("../../web/test/kit_stage.tsx", import.meta.url)),
        formats: ["es"],
      },
    },
  })) as { output: { code: string }[] }[];
  const page = await stage.open("#/nowhere");
  const body = `<style>:root { --font: sans-serif; --muted: #556; --grid: #eee; --series-0: #1d4ed8; --series-1: #c2410c }
    .chart { height: 226px }</style><div id="app" style="width: 420px"></div>
    <script type="module">${bundle!.output[0]!.code}</script>`;
  await page.route("**/kit", (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body }));
  await page.goto(`${stage.coordinator.url}/kit`);
  for (const title of ["line", "steps", "scatter", "area", "bars", "band"]) {
    await panel(page, title).scrollIntoViewIfNeeded();
    await expect.poll(() => inked(page, title), { message: title }).toBeGreaterThan(100);
  }
  expect(await page.evaluate(() => (window as unknown as { clipped: string[] }).clipped)).toEqual([]);
});

describe("a curve", () => {
  it("says how many of its points the database cannot read", async () => {
    const page = await stage.open("#/jobs");
    await page.route(/\/series\?/, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { series: WireSeries[] };
      for (const series of json.series) if (series.key === "train/loss") series.lost_points = 4096;
      await route.fulfill({ response, json });
    });
    const lost = page.getByText("4,096 unreadable");
    await page.goto(new URL(`#/jobs/${stage.quickstart}`, page.url()).href);
    await lost.waitFor();
    expect(await lost.count()).toBe(1);
    await page.goto(new URL(`#/compare?jobs=${stage.quickstart}&keys=train/loss`, page.url()).href);
    await page.getByRole("heading", { name: "Compare" }).waitFor();
    await lost.waitFor();
  });
});

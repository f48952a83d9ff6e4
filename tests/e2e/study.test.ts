// Studies: the sentence, the charts, and one's own figures, with published ones beside but never among them.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { ashaOf, ashaStudy } from "./fake/asha";
import { scalingStudy, slotStudy, studyOf, sweepStudy } from "./fake/studies";
import { rows, useStage } from "./support/stage";

const stage = useStage(12, 4, { studies: true });
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const sizes = (page: Page) => region(page, "Sizes as a table").locator("tbody tr");
const jobsOf = (study: number) => stage.coordinator.cluster.experiments.get(study)!.jobs;

describe("a study of sizes", () => {
  const open = (query = "") => stage.open(`#/studies/${scalingStudy}${query}`);

  it("says in a sentence how it scales, and shows every size that was asked for", async () => {
    const page = await open();
    const { tables } = studyOf(stage.coordinator.cluster, scalingStudy, []);
    await page.locator(".study-sentence", { hasText: tables[0]!.sentence }).waitFor();
    await expect.poll(() => sizes(page).count()).toBe(6);
    const [failed, queued] = [sizes(page).nth(4), sizes(page).nth(5)];
    expect(await failed.textContent()).toMatch(/128.*failed.*out of memory/);
    expect(await queued.textContent()).toMatch(/256.*queued/);
    expect(await sizes(page).nth(3).textContent()).toContain("so far");
  });

  it("draws three charts over devices, whose tables have the figures of the sizes", async () => {
    const page = await open("?table=efficiency");
    for (const name of ["Time to train", "Throughput"]) await region(page, name).locator("canvas").waitFor();
    const table = region(page, "Scaling efficiency").getByRole("table");
    const { tables } = studyOf(stage.coordinator.cluster, scalingStudy, []);
    const wanted = tables[0]!.rows.find(({ devices }) => devices === 32)!;
    const cells = await table.getByRole("row", { name: /^32 / }).getByRole("cell").allTextContents();
    expect(Number(cells[2])).toBeCloseTo(100 * wanted.efficiency!, 1);
  });

  it("shows the exact identity: the product of the three parts is the efficiency of the time", async () => {
    const page = await open();
    const table = region(page, "Efficiency of the time to train as a table");
    const row = table.getByRole("row").nth(2);
    await row.waitFor();
    const cells = await row.getByRole("cell").allTextContents();
    const [whole, ...parts] = cells.map((text) => Number.parseFloat(text) / 100);
    expect(parts).toHaveLength(3);
    expect(parts.reduce((product, part) => product * part, 1)).toBeCloseTo(whole!, 2);
    expect(whole).toBeLessThan(1);
  });

  it("puts what others published beside it when it is chosen, tagged, with its source, in the address", async () => {
    const page = await open();
    await expect.poll(() => sizes(page).count()).toBe(6);
    await page.getByLabel("Published results to show").selectOption("megatron-weak-scaling");
    await page.waitForFunction(() => location.hash.includes("published=megatron-weak-scaling"));
    const others = sizes(page).filter({ hasText: "published" });
    await expect.poll(() => others.count()).toBe(6);
    const eight = others.filter({ hasText: "GPT-2 8.3B" });
    expect(await eight.textContent()).toContain("77 % of linear");
    expect(await eight.getByRole("link").getAttribute("href")).toBe("https://arxiv.org/abs/1909.08053");
    const legend = region(page, "Scaling efficiency").locator(".legend-entry", { hasText: "published:" });
    await legend.locator(".swatch-diamond").waitFor();
    expect(
      await region(page, "Time to train").locator(".legend-entry", { hasText: "published" }).count(),
    ).toBe(0);
    await page.goBack();
    await expect.poll(() => others.count()).toBe(0);
  });

  it("tells what must be known, with links to the jobs, and asks again when one of them moves", async () => {
    const page = await open();
    const warnings = region(page, "Warnings");
    await warnings.getByText(/128 devices\) failed: rank 96/).waitFor();
    const { jobs } = stage.coordinator.cluster;
    const queued = jobs.get(jobsOf(scalingStudy).at(-1)!)!;
    stage.coordinator.putJob({ ...queued, state: "failed", reason: "no such data" });
    await warnings.getByText(/256 devices\) failed: no such data/).waitFor();
  });

  it("explains efficiency behind an i that the keyboard opens and closes", async () => {
    const page = await open();
    const button = page.getByRole("button", { name: "About efficiency" });
    await button.press("Enter");
    await page.getByText("Efficiency = (throughput / devices)").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByText("Efficiency = (throughput / devices)").count()).toBe(0);
  });

  it("lights the size that a row is of in the charts, and opens the jobs of a point", async () => {
    const page = await open();
    const chart = region(page, "Throughput");
    await chart.locator(".u-over").waitFor();
    const box = (await chart.locator(".u-over").boundingBox())!;
    await page.mouse.move(box.x + 20, box.y + box.height / 2);
    await sizes(page).and(page.locator(".is-lit")).first().waitFor();
    await page.mouse.click(box.x + 20, box.y + box.height / 2);
    await page.waitForFunction(() => location.hash.startsWith("#/compare?jobs="));
    const [first, second] = jobsOf(scalingStudy);
    expect(page.url()).toContain(`jobs=${first},${second}`);
  });
});

it("says that slots share cores and which devices are artificial", async () => {
  const page = await stage.open(`#/studies/${slotStudy}`);
  await page.getByText(/CPU slots, which may share cores/).waitFor();
  await page.getByText(/1 of its jobs ran on artificial devices/).waitFor();
  await page
    .getByText(/shared node-1 with job 3/)
    .first()
    .waitFor();
  await sizes(page).filter({ hasText: "artificial devices" }).waitFor();
});

describe("a sweep", () => {
  const trials = (page: Page) => region(page, "Trials as a table").locator("tbody tr");

  it("ranks its trials by their result, those without one last", async () => {
    const page = await stage.open(`#/studies/${sweepStudy}`);
    await expect.poll(() => trials(page).count()).toBe(12);
    const texts = await trials(page).locator("td:nth-last-child(2)").allTextContents();
    const values = texts.filter((text) => /\d/.test(text)).map((text) => Number(text));
    expect(values.length).toBeGreaterThan(10);
    const up = [...values].sort((a, b) => a - b);
    expect([up, [...up].reverse()]).toContainEqual(values);
    expect(await trials(page).first().getAttribute("class")).toContain("is-best");
  });

  it("takes another result, in the address, and draws it over each parameter and as a grid", async () => {
    const page = await stage.open(`#/studies/${sweepStudy}`);
    await page.getByLabel("Result", { exact: true }).selectOption("Time to train");
    await page.waitForFunction(() => location.hash.includes("result=Time+to+train"));
    for (const name of ["Time to train over lr", "Time to train over global"])
      await region(page, name).locator("canvas").waitFor();
    const grid = region(page, "Grid as a table");
    expect(await grid.getByRole("columnheader").count()).toBe(4);
    expect(await grid.locator("tbody tr").count()).toBe(4);
  });
});

describe("parallel coordinates of a sweep", () => {
  const panel = (page: Page) => region(page, "Parallel coordinates");

  it("have a line a trial, told in words and opened from the keyboard, the best first", async () => {
    const page = await stage.open(`#/studies/${sweepStudy}`);
    const lines = panel(page).getByRole("link");
    const ranks = region(page, "Trials as a table").locator("tbody tr");
    await lines.first().waitFor();
    const results = await ranks.filter({ has: page.locator(".study-rank") }).count();
    expect(await lines.count()).toBe(results);
    const hrefs = await ranks
      .locator("th a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    const focused = () => page.evaluate(() => document.activeElement!.getAttribute("href"));
    await lines.last().focus();
    expect(await focused()).toBe(hrefs[0]);
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe(hrefs[1]);
    const id = hrefs[1]!.split("/").at(-1);
    await panel(page)
      .getByRole("status")
      .getByText(new RegExp(`^job ${id} lr .*global .*: `))
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction((href) => location.hash === href, hrefs[1]);
  });

  it("light the line that is pointed at, and follow the result", async () => {
    const page = await stage.open(`#/studies/${sweepStudy}`);
    const best = panel(page).locator(".is-best");
    await best.waitFor();
    const [x, y] = await best.locator(".parallel-hit").evaluate((line: SVGPolylineElement) => {
      const end = line.points.getItem(line.points.numberOfItems - 1);
      const { left, top } = line.ownerSVGElement!.getBoundingClientRect();
      return [left + end.x - 1, top + end.y] as const;
    });
    await page.mouse.move(x, y);
    await expect.poll(() => panel(page).locator(".is-lit").count()).toBe(1);
    expect(await panel(page).locator(".is-dim").count()).toBeGreaterThan(3);
    await page.getByLabel("Result").selectOption("Time to train");
    await panel(page).locator(".parallel-title", { hasText: "Time to train" }).waitFor();
  });

  it("are a table in the address", async () => {
    const page = await stage.open(`#/studies/${sweepStudy}`);
    const lines = panel(page).getByRole("link");
    await lines.first().waitFor();
    const count = await lines.count();
    await page.getByRole("button", { name: "Parallel coordinates as a table" }).click();
    await page.waitForFunction(() => location.hash.includes("table=parallel"));
    const rows = region(page, "Parallel coordinates, their values").locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(count);
  });
});

describe("a sweep that ends its losing trials", () => {
  const trials = (page: Page) => region(page, "Trials as a table").locator("tbody tr");
  const asha = () => ashaOf(jobsOf(ashaStudy).map((id) => stage.coordinator.cluster.jobs.get(id)!));

  it("shows its best, and how many came to each rung, went on and wait there", async () => {
    const page = await stage.open(`#/studies/${ashaStudy}`);
    const { best, rungs } = asha();
    await page.locator(".study-sentence", { hasText: `Best so far: job ${best!.job}, lr 0.001` }).waitFor();
    const rows = region(page, "Rungs as a table").locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(rungs.length);
    const cells = await rows.first().locator("td.number").allTextContents();
    expect(cells).toEqual(["200", "7", "3", "4", "0"]);
    expect(cells.slice(0, 3)).toEqual([rungs[0]!.step, rungs[0]!.told, rungs[0]!.went_on].map(String));
  });

  it("lists its trials, the furthest first, with the best marked and each state", async () => {
    const page = await stage.open(`#/studies/${ashaStudy}`);
    await expect.poll(() => trials(page).count()).toBe(jobsOf(ashaStudy).length);
    expect(await trials(page).first().textContent()).toContain("best so far");
    await trials(page).filter({ hasText: "paused at rung 2" }).waitFor();
    await trials(page).filter({ hasText: "failed" }).waitFor();
    await trials(page).filter({ hasText: "NaN" }).waitFor();
  });

  it("sorts them by the values of a rung, those that never told last, in the address", async () => {
    const page = await stage.open(`#/studies/${ashaStudy}`);
    const button = region(page, "Trials").getByRole("button", { name: "step 200" });
    await button.click();
    await page.waitForFunction(() => location.hash.includes("sort=-rung1"));
    await button.click();
    const values = (await trials(page).locator('td[data-title="step 200"]').allTextContents()).map(Number);
    const told = values.filter(Number.isFinite);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(values.slice(told.length).every(Number.isNaN)).toBe(true);
  });

  it("keeps the result over the parameter", async () => {
    const page = await stage.open(`#/studies/${ashaStudy}`);
    await page
      .getByRole("region", { name: /over lr$/ })
      .locator("canvas")
      .waitFor();
  });
});

it("studies are listed, newest first, and reached from their experiments", async () => {
  const page = await stage.open("#/experiments");
  await page.getByRole("link", { name: "Studies" }).click();
  await rows(page).first().getByText("bert-mini-asha").waitFor();
  const count = [...stage.coordinator.cluster.experiments.values()].filter(
    ({ jobs }) => jobs.length > 1,
  ).length;
  await page.getByText(`${count} studies`).waitFor();
  await page.evaluate((id) => (location.hash = `#/experiments/${id}`), scalingStudy);
  await page.getByRole("link", { name: "Study", exact: true }).click();
  await page.getByRole("heading", { name: "bert-large-scaling" }).waitFor();
});

it("an experiment of one job is no study, and it says so", async () => {
  const page = await stage.open("#/studies/9000");
  await page.getByText("There is no study 9000").waitFor();
});

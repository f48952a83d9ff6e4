// The record board: who holds which record, how it fell, and why a run sets none; and repeating a job from it or its page.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { benchmarksOf } from "./fake/board";
import { userToken } from "./fake/server";
import { useStage } from "./support/stage";

const stage = useStage(300);
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const body = (page: Page, name: string) => region(page, `${name} as a table`).locator("tbody tr");
const boards = () => benchmarksOf(stage.coordinator.cluster);
const first = () => boards()[0]!;
const withToken = (page: Page) =>
  page.evaluate((token) => sessionStorage.setItem("podium.token", token), userToken);

describe("the board", () => {
  it("is in the navigation, and shows the first benchmark with its fastest record", async () => {
    const page = await stage.open("#/jobs");
    await page.getByRole("link", { name: "Board", exact: true }).click();
    const list = page.getByRole("navigation", { name: "Benchmarks" }).getByRole("link");
    await expect.poll(() => list.count()).toBe(boards().length);
    const best = Math.min(...first().classes.map(({ records }) => records.at(-1)!.seconds));
    const holder = first().all.find(({ seconds, excluded }) => seconds === best && excluded.length === 0)!;
    await page.locator(".board-headline", { hasText: `job ${holder.job}` }).waitFor();
    await region(page, "Records over time").locator("canvas").waitFor();
  });

  it("lists how each record fell, the newest first, and marks who holds it", async () => {
    const page = await stage.open("#/board");
    const all = first().classes.flatMap(({ records }) => [...records].reverse());
    await expect.poll(() => body(page, "Records").count()).toBe(all.length);
    const jobs = await body(page, "Records").locator('td[data-title="Job"]').allTextContents();
    expect(jobs.map(Number)).toEqual(all.map(({ job }) => job));
    expect(await body(page, "Records").locator(".tag-good").count()).toBe(first().classes.length);
  });

  it("says why a run sets no record, and shows where every run comes from", async () => {
    const page = await stage.open("#/board");
    const excluded = first().all.find((run) => run.excluded.length > 0)!;
    await region(page, "All runs")
      .getByRole("button", { name: /^Show all/ })
      .click();
    await expect.poll(() => body(page, "All runs").count()).toBe(first().runs);
    const row = body(page, "All runs").filter({ has: page.locator(`th a[href="#/jobs/${excluded.job}"]`) });
    const text = (await row.textContent())!;
    expect(text).toContain("sets no record");
    for (const why of excluded.excluded) expect(text).toContain(why);
    expect(text).toContain(excluded.spec_sha256.slice(0, 8));
    expect(text).toContain(excluded.source?.commit?.slice(0, 10) ?? "not recorded");
  });

  it("sorts its runs by their heads, in the address", async () => {
    const page = await stage.open("#/board");
    await region(page, "All runs").getByRole("button", { name: "Time to train" }).click();
    await page.waitForFunction(() => location.hash.includes("sort=-time"));
    await region(page, "All runs").getByRole("button", { name: "Time to train" }).click();
    const least = Math.min(...first().all.map(({ seconds }) => seconds));
    const fastest = first().all.find(({ seconds }) => seconds === least)!;
    await body(page, "All runs").first().locator(`a[href="#/jobs/${fastest.job}"]`).waitFor();
  });

  it("opens another benchmark in the address, and Back returns", async () => {
    const page = await stage.open("#/board");
    const other = boards()[1]!;
    await page.getByRole("link", { name: new RegExp(`^${other.name.split(",")[0]}`) }).click();
    await page.waitForFunction((id) => location.hash.includes(`benchmark=${id}`), other.id);
    await page.getByRole("heading", { name: other.name, level: 2 }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: first().name, level: 2 }).waitFor();
  });

  it("puts published rows beside it when they are chosen: a table of their own and dashed lines, never a record", async () => {
    const page = await stage.open("#/board");
    await page.getByLabel("Published results to show").selectOption("bert-large-pretraining");
    const others = body(page, "Published");
    await expect.poll(() => others.count()).toBeGreaterThan(5);
    expect(await body(page, "All runs").filter({ hasText: "published" }).count()).toBe(0);
    expect(await body(page, "Records").filter({ hasText: "published" }).count()).toBe(0);
    const legend = region(page, "Records over time").locator(".legend-entry", { hasText: "published:" });
    await legend.first().locator(".swatch-dashed").waitFor();
  });

  it("has the records as a table, with dates", async () => {
    const page = await stage.open("#/board?table=records");
    const cells = region(page, "Records over time").getByRole("table").locator("tbody tr td:first-child");
    await cells.first().waitFor();
    for (const text of await cells.allTextContents()) expect(text).toMatch(/20\d\d/);
  });

  it("is narrowed to models and devices, in the address", async () => {
    const page = await stage.open("#/board");
    const list = page.getByRole("navigation", { name: "Benchmarks" }).getByRole("link");
    await expect.poll(() => list.count()).toBe(boards().length);
    const { preset } = boards()[1]!.identity["model"] as unknown as { preset: string };
    await page.getByLabel("Model").selectOption(preset);
    await page.waitForFunction((name) => location.hash.includes(`model=${name}`), preset);
    await expect.poll(() => list.count()).toBe(1);
    const of = boards()[1]!;
    await page.getByLabel("How many").selectOption("1-8");
    const records = of.classes.filter(({ devices }) => devices <= 8).flatMap((each) => each.records);
    await expect.poll(() => body(page, "Records").count()).toBe(records.length);
    const runs = of.all.filter(({ devices }) => devices.some((count) => count <= 8));
    await page.getByText(`${runs.length} reached the target`).waitFor();
    await page.goBack();
    await expect
      .poll(() => body(page, "Records").count())
      .toBe(of.classes.flatMap((each) => each.records).length);
    await page.getByRole("button", { name: "Show all", exact: true }).click();
    await expect.poll(() => list.count()).toBe(boards().length);
    await page.evaluate(() => (location.hash = "#/board?model=nobody"));
    await page.getByText("No benchmark matches these filters").waitFor();
  });

  it("without any run says how to come to one", async () => {
    for (const job of stage.coordinator.cluster.jobs.values())
      if (job.target) stage.coordinator.putJobUnseen({ ...job, target: null });
    const page = await stage.open("#/board");
    await page.getByText("No run has reached a target yet").waitFor();
  });
});

describe("reproducing", () => {
  it("from a job's page says what is repeated, then what differs, and leads to the new job", async () => {
    const page = await stage.open(`#/jobs/${stage.quickstart}`);
    await withToken(page);
    await page.getByRole("button", { name: "Reproduce…" }).click();
    await page
      .getByRole("dialog")
      .getByText(/repeats the spec, the parameters, the seed and the packed code/)
      .waitFor();
    expect(stage.coordinator.asked).toEqual([]);
    await page.getByRole("button", { name: "Submit it once more" }).click();
    const made = stage.quickstart + 1;
    const dialog = page.getByRole("dialog", { name: `Job ${made} repeats job ${stage.quickstart}` });
    for (const sentence of stage.coordinator.differences) await dialog.getByText(sentence).waitFor();
    await dialog.getByRole("link", { name: `Open job ${made}` }).click();
    await page.getByText(`Repeats job ${stage.quickstart}: running then, queued now.`).waitFor();
  });

  it("from the board, where nothing that is recorded differs", async () => {
    stage.coordinator.differences = [];
    const page = await stage.open("#/board");
    await withToken(page);
    const { job } = first().all[0]!;
    await page.getByRole("button", { name: `Reproduce job ${job}`, exact: true }).click();
    await page.getByRole("button", { name: "Submit it once more" }).click();
    await page.getByText("The devices and versions are the same").waitFor();
    expect(stage.coordinator.asked.map(({ path }) => path)).toEqual([`jobs ${job} reproduce`]);
    expect(stage.coordinator.cluster.jobs.get(stage.quickstart + 1)!.labels["reproduces"]).toBe(String(job));
  });

  it("sets both times beside each other on either page when the new one has ended", async () => {
    const { job: id } = first().all[0]!;
    const original = stage.coordinator.cluster.jobs.get(id)!;
    const seconds = original.time_to_train_seconds!;
    const repeat = {
      ...original,
      id: 900,
      labels: { reproduces: String(id) },
      time_to_train_seconds: seconds / 2,
    };
    stage.coordinator.putJob(repeat);
    stage.coordinator.putJob({ ...repeat, id: 901, labels: { reproduces: `${id}0` } });
    const page = await stage.open("#/jobs/900");
    await page.getByText(new RegExp(`Repeats job ${id}: .* then, .* now \\(−50 %\\)`)).waitFor();
    await page.getByRole("link", { name: `job ${id}`, exact: true }).click();
    await page.getByText(/Job 900 repeats it: .* now \(−50 %\)/).waitFor();
    expect(await page.getByText("Job 901 repeats it").count()).toBe(0);
  });
});

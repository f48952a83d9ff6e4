// Comparing jobs: the choices are in the address, and a job has one colour everywhere.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { rows, useStage } from "./support/stage";

const stage = useStage(40, 20, { studies: true });
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const rail = (page: Page) => page.locator(".compare-rail li");

/** Two that have run and differ: the quick start, and the newest other with curves. */
function ranJobs(): [number, number] {
  const { jobs } = stage.coordinator.cluster;
  const other = [...jobs.values()].filter(
    ({ experiment, progress }) => experiment < 9000 && (progress?.step ?? 0) > 200,
  );
  return [stage.quickstart, other.at(-1)!.id];
}

const open = (query: string) => stage.open(`#/compare?${query}`);

describe("a comparison", () => {
  it("shows what came of the jobs, the best of a row in bold", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}`);
    await page.getByRole("heading", { name: "Compare 2 jobs" }).waitFor();
    const table = region(page, "Results as a table");
    const speed = table.getByRole("row", { name: /^train\/sequences_per_second median/ });
    await speed.waitFor();
    const values = await speed.getByRole("cell").allTextContents();
    const read = values.map((text) => Number(text.split(/[ +−]/)[0]!.replaceAll(",", "")));
    expect(read).toHaveLength(2);
    const bold = await speed.locator("strong").allTextContents();
    expect(bold.map((text) => Number(text.replaceAll(",", "")))).toEqual([Math.max(...read)]);
    const share = (100 * (read[1]! - read[0]!)) / read[0]!;
    if (share > 900) return expect(values[1]).toContain(`×${Math.round(1 + share / 100)}`);
    expect(values[1]).toMatch(share < 0 ? /−\d/ : /\+\d/);
    return expect(Math.abs(Number(/[+−]([\d.]+) %/.exec(values[1]!)![1]) - Math.abs(share))).toBeLessThan(
      0.6,
    );
  });

  it("shows only what differs, and all when asked, in the address", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}`);
    const table = region(page, "Parameters as a table");
    const steps = table.getByRole("row", { name: /training\.\W*schedule\.\W*steps/ });
    await steps.waitFor();
    const seed = table.getByRole("row", { name: /training\.\W*seed/ });
    expect(await seed.count()).toBe(0);
    await page.getByRole("button", { name: "Show those that are the same" }).click();
    await seed.waitFor();
    expect(page.url()).toContain("diff=all");
    await page.goBack();
    await seed.waitFor({ state: "detached" });
  });

  it("draws a line a job in each chart, and hides a job's lines everywhere at once", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}&keys=train/loss`);
    const chart = region(page, "train/loss");
    await chart.locator("canvas").waitFor();
    const entries = chart.locator(".legend-entry");
    await expect.poll(() => entries.count()).toBe(2);
    const colours = (of: ReturnType<Page["locator"]>) =>
      of.evaluateAll((swatches) => swatches.map((swatch) => getComputedStyle(swatch).color));
    expect(await colours(chart.locator(".swatch"))).toEqual(await colours(rail(page).locator(".swatch")));
    await page.getByRole("button", { name: `Curves of job ${second}` }).click();
    await expect.poll(() => entries.nth(1).getAttribute("aria-pressed")).toBe("false");
    expect(page.url()).toContain(`hide=${second}`);
  });

  it("counts what differs also where fields are left out", async () => {
    const page = await open("");
    await page.route("**/compare?*", async (route) => {
      const response = await route.fetch();
      const told = (await response.json()) as object;
      const json = { ...told, fields: [], differing: 2_041, same: 30, left_out: 71 };
      await route.fulfill({ response, json });
    });
    await page.evaluate((jobs) => (location.hash = `#/compare?jobs=${jobs}`), ranJobs().join(","));
    await page.getByText("2,041 differ, 30 are the same, 71 of them are left out").waitFor();
  });

  it("hides the target, and shows it again", async () => {
    const page = await open(`jobs=${stage.quickstart}&keys=eval/*`);
    const entry = page.locator(".legend-entry", { hasText: "target" }).first();
    await entry.click();
    await expect.poll(() => entry.getAttribute("aria-pressed")).toBe("false");
    expect(page.url()).toContain("hide=0");
    await entry.click();
    await expect.poll(() => entry.getAttribute("aria-pressed")).toBe("true");
  });

  it("looks for a job to add once nobody types any more", async () => {
    const page = await open(`jobs=${stage.quickstart}`);
    await page.getByText("A comparison needs two jobs").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      const q = new URL(request.url()).searchParams.get("q");
      if (q !== null) asked.push(q);
    });
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 1_000);
    for (const text of ["b", "be", "ber", "bert"]) {
      await page.getByLabel("Add a job").fill(text);
      await page.clock.runFor(100);
    }
    expect(asked).toEqual([]);
    await page.clock.runFor(200);
    await expect.poll(() => asked).toEqual(["bert"]);
  });

  it("tells of the base what the others differ from, and takes another", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}`);
    await page.getByText(`differences are from job ${first}`).waitFor();
    await page.getByRole("button", { name: `Compare with job ${second}` }).click();
    await page.getByText(`differences are from job ${second}`).waitFor();
    expect(page.url()).toContain(`base=${second}`);
  });

  it("adds and removes jobs, which Back undoes", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first}`);
    await page.getByText("A comparison needs two jobs").waitFor();
    await page.getByLabel("Add a job").fill(String(second));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Compare 2 jobs" }).waitFor();
    await page.getByRole("button", { name: `Remove job ${first}` }).click();
    await page.getByRole("heading", { name: `Compare job ${second}` }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Compare 2 jobs" }).waitFor();
  });

  it("reorders by the keyboard, and colours go by place", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}`);
    await page.getByRole("button", { name: `Remove job ${second}` }).focus();
    await page.keyboard.press("Alt+ArrowUp");
    await expect.poll(() => page.url()).toContain(`jobs=${second},${first}`);
    await expect.poll(() => rail(page).first().locator("a").textContent()).toBe(String(second));
  });

  it("tells of a job that is not there in the rail, and shows the others", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},999999,${second}`);
    await page.getByText("there is no job 999999").waitFor();
    await region(page, "Results as a table")
      .getByRole("columnheader", { name: String(second) })
      .waitFor();
  });

  it("tells which jobs lack a metric", async () => {
    const { jobs } = stage.coordinator.cluster;
    const waiting = [...jobs.values()].find(({ state }) => state === "queued")!;
    const page = await open(`jobs=${stage.quickstart},${waiting.id}&keys=train/loss`);
    await page.getByText(`not recorded by ${waiting.id}`).waitFor();
  });

  it("draws points as they come", async () => {
    const page = await open(`jobs=${stage.quickstart}&keys=train/loss&table=train/loss`);
    await page.locator(".overlay-place").scrollIntoViewIfNeeded();
    const table = region(page, "train/loss").getByRole("table");
    await table.waitFor();
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    const step = job.progress!.step + 10;
    const points = [{ key: "train/loss", step, time_ms: Date.now(), value: 1.2345678 }];
    stage.coordinator.live.push("metrics", { job: stage.quickstart, points });
    await table.getByRole("cell", { name: "1.235", exact: true }).waitFor();
  });
});

describe("curves", () => {
  const entries = (page: Page) => region(page, "train/loss").locator(".legend-entry");

  it("step back behind that of the job whose row is looked at, by pointer and by keyboard", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}&keys=train/loss`);
    const canvas = region(page, "train/loss").locator("canvas");
    await canvas.waitFor();
    const picture = () => canvas.evaluate((drawn: HTMLCanvasElement) => drawn.toDataURL());
    const before = await picture();
    await rail(page).nth(1).hover();
    await expect.poll(picture).not.toBe(before);
    const lit = await picture();
    await page.mouse.move(0, 0);
    await expect.poll(picture).toBe(before);
    await page.getByRole("button", { name: `Curves of job ${second}` }).focus();
    await expect.poll(picture).toBe(lit);
  });

  it("of a job are shown alone with Alt", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}&keys=train/loss`);
    await page.getByRole("button", { name: `Curves of job ${second}` }).click({ modifiers: ["Alt"] });
    await page.waitForFunction((id) => location.hash.includes(`hide=${id}`), first);
  });

  it("are told as they differ from the base, whose own is zero", async () => {
    const [first, second] = ranJobs();
    const page = await open(`jobs=${first},${second}&keys=train/loss&table=train/loss`);
    await page.getByRole("button", { name: `Minus job ${first}` }).click();
    await page.waitForFunction(() => location.hash.includes("show=difference"));
    const cells = region(page, "train/loss").locator("tbody tr td:nth-child(2)");
    await expect.poll(async () => new Set(await cells.allTextContents()).has("0")).toBe(true);
    expect(new Set((await cells.allTextContents()).filter((text) => text !== ""))).toEqual(new Set(["0"]));
  });

  it("of more than twelve jobs are bands, by what the address says, each with its count", async () => {
    const ids = stage.coordinator.cluster.experiments.get(9200)!.jobs;
    const page = await open(`jobs=${[stage.quickstart, ...ids].join(",")}&keys=train/loss&by=label batch`);
    await page.locator(".overlay-place").scrollIntoViewIfNeeded();
    await entries(page).filter({ hasText: "batch 32, mean of 4" }).waitFor();
    expect(await entries(page).count()).toBe(4);
    await page.getByRole("combobox", { name: "Curves" }).selectOption("each");
    await expect.poll(() => entries(page).count()).toBe(13);
    await page.evaluate(
      (jobs) => (location.hash = `#/compare?jobs=${jobs}&keys=train/loss`),
      [stage.quickstart, ...ids].join(","),
    );
    await expect.poll(() => entries(page).count()).toBeLessThan(9);
  });
});

it("is offered by a job: those of its experiment first", async () => {
  const page = await stage.open("#/jobs/5");
  await page.getByRole("button", { name: "Compare with…" }).click();
  await page.getByRole("link", { name: "All 3 of its experiment" }).waitFor();
  const links = page.locator(".menu-list a");
  const texts = await links.allTextContents();
  expect(
    texts
      .slice(1, 3)
      .map((text) => Number.parseInt(text))
      .sort(),
  ).toEqual([4, 6]);
  await page.getByRole("link", { name: /^4 / }).click();
  await page.waitForFunction(() => location.hash === "#/compare?jobs=4,5");
});

it("offers jobs of one name where none are chosen", async () => {
  const page = await open("");
  const offer = page.locator(".compare-offers a").first();
  await offer.waitFor();
  const name = (await offer.textContent())!.split(":")[0]!;
  await offer.click();
  await page.getByRole("heading", { name: /^Compare \d jobs$/ }).waitFor();
  expect(new Set(await page.locator(".compare-common").allTextContents())).toEqual(new Set([name]));
});

it("is gone to from selected jobs, and from an experiment", async () => {
  const page = await stage.open("#/jobs");
  await rows(page).first().waitFor();
  const boxes = rows(page).getByRole("checkbox");
  await boxes.nth(0).check();
  expect(await page.getByRole("link", { name: /^Compare/ }).count()).toBe(0);
  await boxes.nth(1).check();
  await page.getByRole("link", { name: "Compare 2" }).click();
  await page.getByRole("heading", { name: "Compare 2 jobs" }).waitFor();
  await page.evaluate(() => (location.hash = "#/experiments/5"));
  await page.getByRole("link", { name: "Compare its jobs" }).click();
  await page.getByRole("heading", { name: "Compare 3 jobs" }).waitFor();
});

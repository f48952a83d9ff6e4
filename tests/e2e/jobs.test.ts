// The jobs table with 10,000 jobs: what it shows, the keyboard, the address, live updates, and what scrolling costs.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { measureScrolling } from "./support/scrolling";
import { rows, useStage } from "./support/stage";

const stage = useStage(9999);

async function openJobs(): Promise<Page> {
  const page = await stage.open("#/jobs");
  await page.getByText("10,000 jobs", { exact: false }).waitFor();
  return page;
}

const ids = (page: Page) => rows(page).locator(".c-id").allTextContents();
const topRow = (page: Page) =>
  page.evaluate(() => {
    const table = document.querySelector(".job-table")!.getBoundingClientRect();
    return document.elementFromPoint(table.left + 100, table.top + 50)?.closest(".job-row")?.id;
  });

describe("table", () => {
  it("shows all 10,000 jobs with only a screenful of rows in the document", async () => {
    const page = await openJobs();
    expect(await page.getByRole("grid", { name: "Jobs" }).getAttribute("aria-rowcount")).toBe("10001");
    expect(await rows(page).count()).toBeLessThan(60);
    await page.keyboard.press("End");
    await rows(page).locator('a[href="#/jobs/1"]').waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
  });

  it("filters by name, label and state, and the address says how", async () => {
    const page = await openJobs();
    await page.keyboard.press("/");
    await page.keyboard.type("bert-mini team:nlp");
    await page.getByRole("button", { name: /^succeeded/ }).click();
    await page.waitForFunction(() => location.hash === "#/jobs?q=bert-mini+team:nlp&state=succeeded");
    const expected = [...stage.coordinator.cluster.jobs.values()].filter(
      (job) => job.name.includes("bert-mini") && job.labels["team"] === "nlp" && job.state === "succeeded",
    );
    await page.getByText(`${expected.length} jobs`).waitFor();
    await page.reload();
    await page.getByText(`${expected.length} jobs`).waitFor();
    expect(await rows(page).first().locator(".c-name a").textContent()).toContain("bert-mini");
  });

  it("sorts by a column and back", async () => {
    const page = await openJobs();
    await page.getByRole("button", { name: "Loss" }).click();
    await page.waitForFunction(() => location.hash === "#/jobs?sort=-loss");
    await page.getByRole("button", { name: "Loss" }).click();
    await page.waitForFunction(() => location.hash === "#/jobs?sort=loss");
    const losses = (await rows(page).locator(".c-loss").allTextContents()).map(Number);
    expect(losses).toEqual([...losses].sort((a, b) => a - b));
    expect(losses.length).toBeGreaterThan(10);
  });

  it("says so when nothing matches, and offers the way back", async () => {
    const page = await stage.open("#/jobs?q=no-such-job");
    await page.getByRole("button", { name: "Show all jobs" }).click();
    await rows(page).first().waitFor();
  });
});

describe("keyboard", () => {
  it("walks with j, k and arrows, and opens with Enter", async () => {
    const page = await openJobs();
    for (const key of ["j", "j", "ArrowDown", "k"]) await page.keyboard.press(key);
    expect(await page.locator(".job-row.current .c-id").textContent()).toBe("9999");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/jobs/9999");
  });

  it("explains itself with ? and goes to other pages with g", async () => {
    const page = await openJobs();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    await page.waitForFunction(() => location.hash === "#/nodes");
  });
});

describe("live", () => {
  it("shows a new job at the top and a change of state where it happens", async () => {
    const page = await openJobs();
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    stage.coordinator.putJob({ ...job, id: 10_001, name: "just-submitted", state: "queued" });
    await rows(page).getByText("just-submitted").waitFor();
    stage.coordinator.putJob({ ...job, state: "failed", reason: "rank 1 exited with 75" });
    await rows(page).getByText("rank 1 exited with 75").waitFor();
    expect((await ids(page))[0]).toBe("10001");
  });

  it("keeps what is being read in place while jobs come in above", async () => {
    const page = await openJobs();
    await page.evaluate(() => document.querySelector(".job-table")!.scrollTo(0, 34 * 500 + 7));
    await page.waitForTimeout(200);
    const before = await topRow(page);
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    for (let id = 10_001; id <= 10_020; id += 1) stage.coordinator.putJob({ ...job, id });
    await page.getByText("10,020 jobs").waitFor();
    expect(await topRow(page)).toBe(before);
    expect(before).toBe("job-row-9500");
  });

  it("scrolls through 10,000 jobs while 200 updates a second arrive", async () => {
    const page = await openJobs();
    const running = [...stage.coordinator.cluster.jobs.values()].filter(({ state }) => state === "running");
    let turn = 0;
    const timer = setInterval(() => {
      for (let count = 0; count < 10; count += 1) {
        const job = running[turn++ % running.length]!;
        stage.coordinator.putJob({ ...job, latest: { ...job.latest, "train/loss": Math.random() } });
      }
    }, 50);
    try {
      for (const [how, pixels] of [
        ["at the pace of a wheel", 100],
        ["a screenful a frame", 1100],
      ] as const) {
        const cost = await measureScrolling(page, 300, pixels);
        console.log(
          `10,000 jobs, scrolled ${how}: ${cost.scriptMs.toFixed(2)} ms of script and ${cost.layoutMs.toFixed(2)} ms ` +
            `of style and layout a frame; 95% of frames took under ${cost.frame95Ms.toFixed(1)} ms, the longest ${cost.longestMs.toFixed(1)} ms`,
        );
        expect(cost.blankFrames, "frames that showed no row").toBe(0);
      }
    } finally {
      clearInterval(timer);
    }
    expect(await rows(page).count()).toBeLessThan(60);
  });
});

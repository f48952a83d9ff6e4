// The jobs table with 10,000 jobs: what it shows, the keyboard, the address, live updates. scrolling.test.ts scrolls it.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { userToken } from "./fake/server";
import { rows, useStage } from "./support/stage";

const stage = useStage(9999);

async function openJobs(): Promise<Page> {
  const page = await stage.open("#/jobs");
  await page.getByText("10,000 jobs", { exact: false }).waitFor();
  return page;
}

const shapes = (page: Page) => page.locator(".data-shape");

/** Every request for a part of the list from now on, and how many are under way as they are made. */
function listen(page: Page, onAsked: (underWay: number) => void): string[] {
  const asked: string[] = [];
  const underWay = new Set<unknown>();
  const isOfList = (url: string) => /\/jobs\?/.test(url);
  page.on("request", (request) => {
    if (!isOfList(request.url())) return;
    asked.push(request.url());
    onAsked(underWay.add(request).size);
  });
  page.on("requestfinished", (request) => void underWay.delete(request));
  page.on("requestfailed", (request) => void underWay.delete(request));
  return asked;
}

const ids = (page: Page) => rows(page).locator(".c-id").allTextContents();
const topRow = (page: Page) =>
  page.evaluate(() => {
    const table = document.querySelector(".data-table")!.getBoundingClientRect();
    return document.elementFromPoint(table.left + 100, table.top + 50)?.closest(".data-row")?.id;
  });

describe("table", () => {
  it("shows all 10,000 jobs with only a screenful of rows in the document", async () => {
    const page = await openJobs();
    expect(await page.getByRole("grid", { name: "Jobs" }).getAttribute("aria-rowcount")).toBe("10001");
    expect(await rows(page).count()).toBeLessThan(60);
    await page.keyboard.press("End");
    await rows(page).locator('a[href="#/jobs/1"]').waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/jobs/1");
  });

  it("asks for what is scrolled to alone, and draws the shape of what has not come", async () => {
    const page = await openJobs();
    let most = 0;
    const asked = listen(page, (underWay) => (most = Math.max(most, underWay)));
    stage.coordinator.network.delayMs = (path) => (path === "jobs" ? 150 : 0);
    const began = Date.now();
    for (let screen = 1; screen <= 90; screen += 1) {
      await page.evaluate((top) => document.querySelector(".data-table")!.scrollTo(0, top), screen * 3500);
      await page.waitForTimeout(10);
    }
    expect(await shapes(page).count()).toBeGreaterThan(10);
    await page.locator("#job-row-1249").waitFor();
    await expect.poll(() => shapes(page).count()).toBe(0);
    expect(most).toBeLessThanOrEqual(2);
    const seconds = (Date.now() - began) / 1000;
    console.log(`${asked.length} requests in ${seconds.toFixed(1)} s while 90 screens were scrolled through`);
    expect(asked.length).toBeLessThan(seconds * 10 + 3);
    const box = await page.locator("#job-row-1249").boundingBox();
    expect(box!.height).toBe(36);
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
    const lowest = [...stage.coordinator.cluster.jobs.values()]
      .flatMap(({ latest }) => latest["train/loss"] ?? [])
      .sort((a, b) => Number(a) - Number(b));
    const losses = async () => (await rows(page).locator(".c-loss").allTextContents()).map(Number);
    await expect.poll(async () => (await losses())[0]).toBeCloseTo(Number(lowest[0]), 2);
    const shown = await losses();
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
    expect(shown.length).toBeGreaterThan(10);
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
    expect(await page.locator(".data-row.is-current .c-id").textContent()).toBe("9999");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/jobs/9999");
  });

  it("keeps the row that it comes to in sight, under the head that stays", async () => {
    const page = await openJobs();
    await page.getByRole("grid").focus();
    const hidden = await page.evaluate(async () => {
      const press = (key: string) =>
        document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      const table = document.querySelector(".data-table")!.getBoundingClientRect();
      const head = document.querySelector(".data-head")!.getBoundingClientRect();
      let count = 0;
      for (const key of [...Array<string>(45).fill("j"), ...Array<string>(45).fill("k")]) {
        press(key);
        await frame();
        await frame();
        const row = document.querySelector(".data-row.is-current")?.getBoundingClientRect();
        if (!row || row.top < head.bottom - 1 || row.bottom > table.bottom + 1) count += 1;
      }
      return count;
    });
    expect(hidden).toBe(0);
  });

  it("leaves keys to whatever else has the focus", async () => {
    const page = await stage.open(`#/experiments/9000`);
    await rows(page).first().waitFor();
    await page.getByLabel("Spec as written").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("j");
    expect(await page.locator(".data-row.is-current").count()).toBe(0);
    await page.getByRole("grid").focus();
    await page.keyboard.press("ArrowDown");
    await page.locator(".data-row.is-current").waitFor();
  });

  it("explains itself with ? and goes to other pages with g", async () => {
    const page = await openJobs();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // A machine under load may take longer between two keys than a person does.
    const hashAfterKeys = async () => {
      await page.keyboard.press("g");
      await page.keyboard.press("n");
      return new URL(page.url()).hash;
    };
    await expect.poll(hashAfterKeys).toBe("#/nodes");
  });
});

describe("a click", () => {
  it("with Ctrl opens the job in a tab of its own, and this page stays", async () => {
    const page = await openJobs();
    for (const cell of [".c-state", ".c-name a"]) {
      const [tab] = await Promise.all([
        page.context().waitForEvent("page"),
        rows(page)
          .first()
          .locator(cell)
          .click({ modifiers: ["ControlOrMeta"] }),
      ]);
      await tab.waitForURL(/#\/jobs\/10000$/);
      await tab.close();
      expect(new URL(page.url()).hash).toBe("#/jobs");
    }
  });
});

describe("selection", () => {
  it("by box and by x; what fits is done to all of them, and it outlives a look at one", async () => {
    const page = await stage.open("#/jobs?state=queued");
    await page.evaluate((token) => sessionStorage.setItem("podium.token", token), userToken);
    await rows(page).first().waitFor();
    const free = rows(page).filter({ hasNotText: "held" });
    const numbers: string[] = [];
    for (const at of [0, 1]) numbers.push((await free.nth(at).locator(".c-id").textContent())!);
    await free.nth(0).getByRole("checkbox").check();
    expect(new URL(page.url()).hash, "a box opens nothing").toBe("#/jobs?state=queued");
    await free.nth(1).locator(".c-state").click();
    await page.locator(".stats").waitFor();
    await page.goBack();
    await page.locator(".data-row.is-current").waitFor();
    await page.keyboard.press("x");
    const group = page.getByRole("group", { name: "Selected jobs" });
    await group.getByText("2 jobs selected").waitFor();
    await group.getByRole("button", { name: "Hold 2" }).click();
    await group.getByRole("button", { name: "Release 2" }).waitFor();
    expect(stage.coordinator.asked).toEqual([
      { path: "jobs operations", body: { operation: "hold", jobs: numbers.map(Number) } },
    ]);
    await group.getByRole("button", { name: "Cancel 2…" }).click();
    expect(stage.coordinator.cancelled).toEqual([]);
    await page.getByRole("button", { name: "Cancel the jobs" }).click();
    await group.waitFor({ state: "detached" });
    expect(new Set(stage.coordinator.cancelled)).toEqual(new Set(numbers.map(Number)));
  });

  it("is cancelled past a job that has ended meanwhile, and tells of that", async () => {
    const page = await stage.open("#/jobs?state=queued");
    await page.evaluate((token) => sessionStorage.setItem("podium.token", token), userToken);
    await rows(page).first().waitFor();
    const grid = page.getByRole("grid");
    expect(await grid.getAttribute("aria-multiselectable")).toBe("true");
    const chosen = (await ids(page)).slice(0, 3).map(Number);
    for (const at of [0, 1, 2]) await rows(page).nth(at).getByRole("checkbox").check();
    expect(await page.locator('[role="row"][aria-selected="true"]').count()).toBe(3);
    const [gone] = chosen;
    const { jobs } = stage.coordinator.cluster;
    stage.coordinator.putJobUnseen({ ...jobs.get(gone!)!, state: "cancelled", ended_ms: Date.now() });
    await page.getByRole("button", { name: "Cancel 3…" }).click();
    await page.getByRole("button", { name: "Cancel the jobs" }).click();
    const told = page.getByRole("alert").filter({ hasText: "Done for 2 jobs, refused for 1 job" });
    await told.getByText(`job ${gone} has already ended`).waitFor();
    expect(new Set(stage.coordinator.cancelled)).toEqual(new Set(chosen.slice(1)));
    await told.getByRole("button", { name: "Close" }).click();
    await told.waitFor({ state: "detached" });
  });

  it("of all rows is of those that are not loaded, too", async () => {
    const page = await stage.open("#/jobs?q=gpt");
    await rows(page).first().waitFor();
    const matching = [...stage.coordinator.cluster.jobs.values()].filter(({ name }) => name.includes("gpt"));
    expect(matching.length).toBeGreaterThan(2000);
    const all = page.getByRole("checkbox", { name: "Select all rows" });
    await all.check();
    await page.getByText(`${matching.length.toLocaleString("en")} jobs selected`).waitFor();
    await page.keyboard.press("End");
    const last = page.locator(`#job-row-${Math.min(...matching.map(({ id }) => id))}`);
    expect(await last.getByRole("checkbox").isChecked()).toBe(true);
    await last.getByRole("checkbox").uncheck();
    await page.getByText(`${(matching.length - 1).toLocaleString("en")} jobs selected`).waitFor();
    expect(await all.isChecked()).toBe(false);
    await all.check();
    await page.getByText(`${matching.length.toLocaleString("en")} jobs selected`).waitFor();
    await all.uncheck();
    await page.getByText("jobs selected").waitFor({ state: "detached" });
  });
});

describe("selecting all rows", () => {
  it("takes those of the filter that stands, whichever stood when the list was opened", async () => {
    const page = await stage.open("#/jobs");
    await rows(page).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("gpt");
    await page.waitForFunction(() => location.hash === "#/jobs?q=gpt");
    const matching = [...stage.coordinator.cluster.jobs.values()].filter(({ name }) => name.includes("gpt"));
    await page
      .getByText(`${matching.length.toLocaleString("en")} jobs`)
      .first()
      .waitFor();
    await page.getByRole("checkbox", { name: "Select all rows" }).check();
    await page.getByText(`${matching.length.toLocaleString("en")} jobs selected`).waitFor();
  });
});

describe("columns", () => {
  const titles = (page: Page) => page.getByRole("columnheader").allTextContents();

  it("without anything to show give way to those that have", async () => {
    const page = await stage.open("#/jobs?state=queued");
    await rows(page).first().waitFor();
    const waiting = (await titles(page)).map((title) => title.replace(/[↓↑]/, ""));
    expect(waiting).toContain("Reason");
    expect(waiting).toContain("Account");
    for (const gone of ["Progress", "Loss", "Throughput", "Time to train"])
      expect(waiting).not.toContain(gone);
  });

  it("give a long reason two lines, and a job that is held its chip", async () => {
    const page = await openJobs();
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    const reason =
      "rank 3 on node-17 exited with 75: loss is not finite at step 4,120; lower the learning rate";
    stage.coordinator.putJob({ ...job, state: "failed", reason, held: true });
    const row = rows(page).first();
    await row.getByText("held").waitFor();
    const box = row.locator(".c-detail");
    expect(await box.textContent()).toBe(reason);
    expect(await box.evaluate((cell) => cell.clientHeight)).toBeGreaterThan(25);
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

  it.each([20, 250])("keeps what is being read in place while %i jobs come in above", async (count) => {
    const page = await openJobs();
    await page.evaluate(() => document.querySelector(".data-table")!.scrollTo(0, 36 * 500 + 7));
    await expect.poll(() => topRow(page)).toBe("job-row-9500");
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    for (let id = 10_001; id <= 10_000 + count; id += 1) stage.coordinator.putJob({ ...job, id });
    await page.getByText(`${(10_000 + count).toLocaleString("en")} jobs`).waitFor();
    expect(await topRow(page)).toBe("job-row-9500");
  });

  it("counts a job that is in another state, and takes it out of the list of those in its old one", async () => {
    const page = await stage.open("#/jobs?state=queued");
    const chip = page.getByRole("button", { name: /^queued/ });
    const count = async () => Number((await chip.locator(".chip-count").textContent())!.replace(",", ""));
    await rows(page).first().waitFor();
    const [before, first] = [await count(), Number((await ids(page))[0])];
    stage.coordinator.putJob({ ...stage.coordinator.cluster.jobs.get(first)!, state: "cancelled" });
    await expect.poll(count).toBe(before - 1);
    expect(await ids(page)).not.toContain(String(first));
    await page.getByText(`${before - 1} jobs`).waitFor();
  });
});

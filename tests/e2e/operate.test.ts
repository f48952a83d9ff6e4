// Operations from the dashboard on jobs, nodes and accounts, and what operators see of the queue.
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import type { Job } from "../../web/src/api/types";
import { userToken } from "./fake/server";
import { useStage } from "./support/stage";

const stage = useStage(800);

async function open(hash: string): Promise<Page> {
  const page = await stage.open(hash);
  await page.evaluate((token) => sessionStorage.setItem("podium.token", token), userToken);
  return page;
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const asked = () => stage.coordinator.asked.map(({ path, body }) => [path, body]);
/** The name in the row that the keyboard is on. */
const current = (page: Page) =>
  page.evaluate(() => document.querySelector(".data-row.is-current .c-name a")?.textContent ?? null);
const find = (wanted: (job: Job) => boolean) => [...stage.coordinator.cluster.jobs.values()].find(wanted)!;

describe("a job", () => {
  it("is held and released", async () => {
    const page = await open(`#/jobs/${stage.quickstart}`);
    await press(page, "Hold");
    await page.locator(".page-header .badge.is-held").waitFor();
    await press(page, "Release");
    await page.locator(".page-header .badge.is-held").waitFor({ state: "detached" });
    expect(asked().map(([path]) => path)).toEqual([
      `jobs ${stage.quickstart} hold`,
      `jobs ${stage.quickstart} release`,
    ]);
  });

  it("gets another priority, checked before it is sent", async () => {
    const page = await open(`#/jobs/${stage.quickstart}`);
    await press(page, "Priority…");
    const field = page.getByLabel("From 0 to 100");
    expect(await field.inputValue()).toBe("50");
    await field.fill("80");
    await press(page, "Change it");
    await page.locator(".stat", { hasText: "Priority" }).getByText("80").waitFor();
    expect(asked()).toEqual([[`jobs ${stage.quickstart} priority`, { priority: 80 }]]);
    expect(await page.evaluate(() => document.activeElement?.textContent), "the focus is back").toBe(
      "Priority…",
    );
  });

  it("asks before it loses work, and shows why the coordinator refused", async () => {
    const job = find(({ state }) => state === "running");
    stage.coordinator.putJob({ ...job, name: "stubborn" });
    const page = await open(`#/jobs/${job.id}`);
    await press(page, "Requeue");
    expect(asked()).toEqual([]);
    await press(page, "Stop and queue it again");
    await page.getByRole("alert").getByText("is being stopped for good (request fake-1)").waitFor();
    await press(page, "Let it run");
    await page.locator("dialog").waitFor({ state: "detached" });
  });

  it("offers nothing to who reads with the agents' token, until the user token is there", async () => {
    stage.coordinator.readsAs = "agent";
    const page = await stage.open(`#/jobs/${stage.quickstart}`);
    await page.locator(".stats").waitFor();
    await page.getByRole("button", { name: "Read only" }).waitFor();
    expect(await page.getByRole("button", { name: "Cancel job" }).count()).toBe(0);
    await press(page, "Read only");
    await page.getByLabel("Token", { exact: true }).fill(userToken);
    await press(page, "Use this token");
    await page.getByRole("button", { name: "Cancel job" }).waitFor();
    expect(await page.getByRole("button", { name: "Read only" }).count()).toBe(0);
  });
});

describe("the queue", () => {
  it("shows the order, what made it, and apart from it who is held or follows", async () => {
    const page = await open("#/queue");
    const line = page.getByRole("grid", { name: /waiting for gpu devices/ });
    const first = line.locator('[aria-rowindex="2"]');
    await first.waitFor();
    await page.getByText("Policy fair-share: the account that has used least").waitFor();
    expect(await first.textContent()).toMatch(/by 1h/);
    await first.getByText("yes").waitFor();
    const held = find((job) => job.held && job.state === "queued");
    await page.getByRole("button", { name: /^held or after others/ }).click();
    const apart = page.getByRole("grid", { name: /held or after others/ });
    await apart.getByRole("link").first().waitFor();
    await press(page, `Release job ${held.id}`);
    await apart.getByRole("button", { name: `Release job ${held.id}` }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^gpu/ }).click();
    await line.locator(`a[href="#/jobs/${held.id}"]`).waitFor();
  });

  it("follows the stream", async () => {
    const page = await open("#/queue");
    const waiting = page.getByText(/^\d+ jobs waiting for gpu devices/);
    await waiting.waitFor();
    const before = await waiting.textContent();
    const job = find(({ held, state }) => state === "queued" && !held);
    stage.coordinator.putJob({ ...job, state: "starting" });
    await expect.poll(() => waiting.textContent()).not.toBe(before);
  });

  it("is operated on: what is selected is held, and leaves the line", async () => {
    const page = await open("#/queue");
    const line = page.getByRole("grid", { name: /waiting for gpu devices/ });
    await line.locator('[aria-rowindex="2"]').waitFor();
    const id = Number(await line.locator('[aria-rowindex="2"] .c-id').textContent());
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    const selected = page.getByRole("group", { name: "Selected jobs" });
    await selected.getByText("1 job selected").waitFor();
    await selected.getByRole("button", { name: "Hold 1" }).click();
    await line.locator(`a[href="#/jobs/${id}"]`).waitFor({ state: "detached" });
    await selected.waitFor({ state: "detached" });
    expect(asked()).toEqual([["jobs operations", { operation: "hold", jobs: [id] }]]);
    await line.locator('[aria-rowindex="2"] .c-detail').click();
    await page.locator(".stats").waitFor();
  });

  it("is sorted by a column, and all that is selected gets one priority", async () => {
    const page = await open("#/queue");
    const line = page.getByRole("grid", { name: /waiting for gpu devices/ });
    await line.getByRole("button", { name: "Priority" }).click();
    await page.waitForFunction(() => location.hash === "#/queue?sort=-priority");
    const shown = await line.locator(".data-rows .c-priority").allTextContents();
    expect(new Set(shown).size).toBeGreaterThan(1);
    const first = (index: number) => line.locator(`[aria-rowindex="${index}"]`);
    expect(Number(await first(2).locator(".c-priority").textContent())).toBe(Math.max(...shown.map(Number)));
    const ids: number[] = [];
    for (const index of [2, 3]) {
      ids.push(Number(await first(index).locator(".c-id").textContent()));
      await first(index).getByRole("checkbox").check();
    }
    await page
      .getByRole("group", { name: "Selected jobs" })
      .getByRole("button", { name: "Priority of 2…" })
      .click();
    await page.getByLabel("From 0 to 100").fill("7");
    await press(page, "Change it");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(asked()).toEqual(ids.map((id) => [`jobs ${id} priority`, { priority: 7 }]));
  });
});

describe("accounts", () => {
  it("are a tree with figures, folded at will", async () => {
    const page = await open("#/accounts");
    const row = (name: string) =>
      page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
    await row("speech").waitFor();
    expect((await row("speech").textContent())?.replace(/\s+/g, " ")).toMatch(
      /speech.*2.*gpu.*41.*17.*24.*24 in 2 jobs/,
    );
    await press(page, "Accounts below nlp");
    await row("gpt").waitFor({ state: "detached" });
    await press(page, "Accounts below nlp");
    await row("gpt").waitFor();
  });

  it("are walked by keyboard: folded, and opened as the list of their jobs", async () => {
    const page = await open("#/accounts");
    const gpt = page.getByRole("link", { name: "gpt", exact: true });
    await gpt.waitFor();
    for (let presses = 0; (await current(page)) !== "nlp"; presses += 1) {
      expect(presses).toBeLessThan(20);
      await page.keyboard.press("j");
    }
    await page.keyboard.press("ArrowLeft");
    await gpt.waitFor({ state: "detached" });
    await page.keyboard.press("ArrowRight");
    await gpt.waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/jobs?q=account:nlp");
  });

  it("are sorted within those above them", async () => {
    const page = await open("#/accounts");
    const grid = page.getByRole("grid", { name: "Account tree" });
    await grid.getByRole("link").first().waitFor();
    const shares = async () => {
      const siblings = stage.coordinator.accounts;
      const names = await grid
        .locator(".c-name a:not(.account-again)")
        .evaluateAll((links) => links.map((link) => link.getAttribute("title")!.replace("All jobs of ", "")));
      return names.filter((name) => !name.includes("/")).map((name) => siblings.get(name)!.share);
    };
    await grid.getByRole("columnheader", { name: "Share" }).getByRole("button").click();
    await page.waitForFunction(() => location.hash === "#/accounts?sort=-share");
    const sorted = await shares();
    expect(new Set(sorted).size).toBeGreaterThan(1);
    expect(sorted).toEqual([...sorted].sort((a, b) => b - a));
  });

  it("are changed: what is wrong is said before it is sent, and what the coordinator refuses after", async () => {
    const page = await open("#/accounts");
    await press(page, "Change nlp");
    await page.getByLabel("gpu quota (guaranteed)").fill("200");
    await press(page, "Change it");
    await page.getByText("A gpu quota of 200 can never be used with a limit of 128.").waitFor();
    expect(asked()).toEqual([]);
    await page.getByLabel("gpu limit (at most)").fill("");
    await page.getByLabel("Share of the parent's devices").fill("5");
    await press(page, "Change it");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(asked()).toEqual([["accounts nlp", { share: 5, quota: { gpu: 200 }, limit: { gpu: null } }]]);
    await page.locator(".account-table .c-quota", { hasText: /^200$/ }).waitFor();

    await press(page, "New account…");
    await page.getByLabel("Full name, such as nlp/bert").fill("refused");
    await page.getByLabel("Share of the parent's devices").fill("2");
    await press(page, "Make it");
    await page.getByText("a limit is of devices that there are").waitFor();
    await page.getByLabel("Full name, such as nlp/bert").fill("search/ranking");
    await press(page, "Make it");
    await page.getByRole("link", { name: "ranking", exact: true }).waitFor();
  });
});

describe("a node", () => {
  it("is drained with a reason and a window, changed, and resumed", async () => {
    const page = await open("#/nodes");
    const node = page.getByRole("article", { name: "Node node-2" });
    await press(page, "Drain node-2");
    await page.getByLabel("Reason (shown to those who wait)").fill("new fans");
    await page.getByLabel("Until (empty: until resumed)").fill("2020-01-01T10:00");
    await press(page, "Drain it");
    await page.getByText("The window has ended already.").waitFor();
    await page.getByLabel("From (empty: now)").fill("2190-01-01T10:00");
    await page.getByLabel("Until (empty: until resumed)").fill("2190-01-01T12:00");
    await press(page, "Drain it");
    await node.getByText("new fans").waitFor();
    const from = await page.evaluate(() => new Date("2190-01-01T10:00").getTime());
    expect(asked()).toEqual([
      ["nodes node-2 drain", { reason: "new fans", from_ms: from, until_ms: from + 7_200_000 }],
    ]);
    await press(page, "Change the drain of node-2");
    expect(await page.getByLabel("From (empty: now)").inputValue()).toBe("2190-01-01T10:00");
    await press(page, "Not now");
    await press(page, "Resume node-2");
    await node.getByText("new fans").waitFor({ state: "detached" });
  });

  it("is reserved for an account, changed, and opened", async () => {
    const page = await open("#/nodes");
    const node = page.getByRole("article", { name: "Node node-2" });
    await press(page, "Reserve node-2");
    await page.getByLabel("Account (accounts below it are included)").fill("nlp");
    await page.getByLabel("Reason (shown to those who wait)").fill("deadline");
    await press(page, "Reserve it");
    await node.getByText("reserved for nlp: deadline").waitFor();
    expect(asked()).toEqual([
      ["nodes node-2 reserve", { account: "nlp", reason: "deadline", from_ms: null, until_ms: null }],
    ]);
    await press(page, "Reserve node-2");
    expect(await page.getByLabel("Account (accounts below it are included)").inputValue()).toBe("nlp");
    await press(page, "Not now");
    await press(page, "Open node-2 to every account");
    await node.getByText("reserved for nlp").waitFor({ state: "detached" });
  });

  it("gets labels and has them taken back", async () => {
    const page = await open("#/nodes");
    await press(page, "Labels of node-4");
    await page.getByText("The agent gives: rack=r1, zone=b").waitFor();
    await press(page, "Remove label 1");
    await page.getByLabel("Label 1", { exact: true }).fill("spine");
    await page.getByLabel("Value 1", { exact: true }).fill("s 1");
    await press(page, "Set them");
    await page.getByText("a label and its value consist of letters").waitFor();
    await page.getByLabel("Value 1", { exact: true }).fill("s1");
    await press(page, "Set them");
    await page.getByRole("article", { name: "Node node-4" }).getByText("spine:s1").waitFor();
    expect(asked()).toEqual([["nodes node-4 labels", { labels: { spine: "s1", partition: null } }]]);
  });
});

describe("a dialog", () => {
  it("stays when text is selected past its edge, and goes with a click beside it", async () => {
    const page = await open("#/accounts");
    await press(page, "New account…");
    const text = page.locator("dialog p", { hasText: "Devices beyond the quota are borrowed" });
    const box = (await text.boundingBox())!;
    await page.mouse.move(box.x + 60, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 120, box.y + 8, { steps: 4 });
    await page.mouse.move(20, 20, { steps: 4 });
    await page.mouse.up();
    expect(
      await page.evaluate(() => String(getSelection())).then((selected) => selected.length),
    ).toBeGreaterThan(3);
    await page.getByRole("button", { name: "Make it" }).hover();
    await page.mouse.click(20, 20);
    await page.locator("dialog").waitFor({ state: "detached" });
  });

  it("opens without fields in red, also where they must be filled", async () => {
    const page = await open("#/accounts");
    const border = (label: string) =>
      page.getByLabel(label).evaluate((field) => getComputedStyle(field).borderTopColor);
    await press(page, "New account…");
    const calm = await border("Share of the parent's devices");
    expect(await border("Full name, such as nlp/bert")).toBe(calm);
    await press(page, "Make it");
    expect(await border("Full name, such as nlp/bert")).not.toBe(calm);
  });
});

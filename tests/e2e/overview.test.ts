// The start page: what runs where, what needs attention, how much of the time was useful, which jobs start next.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { queueOf } from "./fake/operate";
import { useStage } from "./support/stage";

const stage = useStage(1000, 60);
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const figure = (page: Page, name: string) => page.locator(".overview-figure", { hasText: name });

it("is where an address without a path leads, and its figures lead on", async () => {
  const page = await stage.open("");
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  const busy = [...stage.coordinator.cluster.nodes.values()]
    .flatMap(({ devices }) => devices)
    .filter(({ job, health }) => job !== null && health === "").length;
  await expect.poll(() => figure(page, "Devices busy").locator("strong").textContent()).toBe(String(busy));
  const { queues } = queueOf(stage.coordinator.cluster, 100, Date.now());
  const waiting = queues.reduce((sum, { total }) => sum + total, 0);
  expect(Number.parseInt((await figure(page, "Waiting").locator("strong").textContent())!, 10)).toBe(waiting);
  await figure(page, "Waiting").click();
  await page.getByRole("heading", { name: "Queue", level: 1 }).waitFor();
});

it("shows which job has which devices, and follows what nodes tell", async () => {
  const page = await stage.open("#/overview");
  const [node] = [...stage.coordinator.cluster.nodes.values()].filter(
    ({ state, devices }) => state === "up" && devices.some(({ job }) => job !== null),
  );
  const { job } = node!.devices.find((device) => device.job !== null)!;
  await page
    .getByRole("link", { name: new RegExp(`^job ${job}: \\d+ devices? of ${node!.id}$`) })
    .first()
    .waitFor();
  const devices = node!.devices.map((device) => ({ ...device, job: 777, health: "" }));
  stage.coordinator.putNode({ ...node!, devices });
  await page.getByRole("link", { name: `job 777: 8 devices of ${node!.id}`, exact: true }).waitFor();
});

it("lights all devices of a job, walks by arrows, and opens the job", async () => {
  const page = await stage.open("#/overview");
  const pieces = page.locator("a.map-piece");
  await pieces.first().focus();
  const status = region(page, "Cluster map").getByRole("status");
  await status.getByText(/^job \d+: \d+ devices? on \d+ nodes?$/).waitFor();
  const opacity = (selector: string) =>
    page
      .locator(`.map ${selector}`)
      .first()
      .evaluate((element) => Number(getComputedStyle(element).opacity));
  expect(await opacity(".map-piece.is-lit")).toBe(1);
  expect(await opacity(".map-piece:not(.is-lit)")).toBeLessThan(0.5);
  await page.keyboard.press("ArrowRight");
  expect(await pieces.nth(1).evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /^#\/jobs\/\d+$/.test(location.hash));
});

it("draws nothing anew for a job that is pointed at but its own pieces and the sentence about it", async () => {
  const page = await stage.open("#/overview");
  const piece = page.locator("a.map-piece").first();
  await piece.waitFor();
  const job = (await piece.getAttribute("href"))!;
  await page.evaluate(() => {
    const changed = new Set<Element>();
    const note = (records: MutationRecord[]) => {
      for (const { target } of records)
        changed.add(target instanceof Element ? target : target.parentElement!);
    };
    new MutationObserver(note).observe(document.querySelector("[aria-label='Cluster map']")!, {
      ...{ attributes: true, childList: true, characterData: true, subtree: true },
    });
    Object.assign(globalThis, { changed });
  });
  await piece.hover();
  await page.locator("a.map-piece.is-lit").first().waitFor();
  const changed = await page.evaluate(() =>
    [...(globalThis as unknown as { changed: Set<Element> }).changed].map(
      (element) => element.getAttribute("href") ?? element.getAttribute("role") ?? element.className,
    ),
  );
  expect(new Set(changed)).toEqual(new Set([job, "status", "map has-lit"]));
  expect(changed.filter((each) => each === job)).toHaveLength(
    await page.locator("a.map-piece.is-lit").count(),
  );
});

it("has colours by job in the address", async () => {
  const page = await stage.open("#/overview");
  await page.getByRole("button", { name: "By job" }).click();
  await page.waitForFunction(() => location.hash.includes("colour=job"));
});

it("lists what needs a person, and drops it when its cause goes", async () => {
  const page = await stage.open("#/overview?attention=all");
  const list = region(page, "Needs attention");
  await list.getByRole("link", { name: "node-5 is lost" }).waitFor();
  await list.getByRole("link", { name: /device 2 of node-7: XID 79/ }).waitFor();
  await list
    .getByText(/is refused:/)
    .first()
    .waitFor();
  const lost = stage.coordinator.cluster.nodes.get("node-5")!;
  stage.coordinator.putNode({ ...lost, state: "up" });
  await list.getByRole("link", { name: "node-5 is lost" }).waitFor({ state: "detached" });
});

it("hides for a day what can wait, in this browser, and shows it again", async () => {
  const page = await stage.open("#/overview?attention=all");
  const list = region(page, "Needs attention");
  const lost = list.getByRole("link", { name: "node-5 is lost" });
  await lost.waitFor();
  const count = async () => Number(await figure(page, "Need attention").locator("strong").textContent());
  const before = await count();
  await list.getByRole("button", { name: "Hide for a day: node-5 is lost" }).click();
  await lost.waitFor({ state: "detached" });
  expect(await count()).toBe(before - 1);
  await page.reload();
  await list.getByRole("button", { name: "Show 1 hidden" }).click();
  await page.waitForFunction(() => location.hash.includes("attention=hidden"));
  await list.getByRole("button", { name: "Show again: node-5 is lost" }).click();
  await expect.poll(count).toBe(before);
});

it("shows what was hidden once its day is over", async () => {
  const page = await stage.open("#/overview?attention=all");
  const list = region(page, "Needs attention");
  await list.getByRole("button", { name: "Hide for a day: node-5 is lost" }).click();
  await page.evaluate(() => {
    const key = "podium.attention.hidden";
    const hidden = JSON.parse(localStorage.getItem(key)!) as Record<string, number>;
    for (const name of Object.keys(hidden)) hidden[name]! -= 86_400_000;
    localStorage.setItem(key, JSON.stringify(hidden));
  });
  await page.reload();
  await list.getByRole("link", { name: "node-5 is lost" }).waitFor();
  expect(await list.getByRole("button", { name: /hidden/ }).count()).toBe(0);
});

it("tells goodput by day, and the next starts that are promised", async () => {
  const page = await stage.open("#/overview?table=goodput");
  await region(page, "Goodput by day").scrollIntoViewIfNeeded();
  const rows = region(page, "Goodput by day").getByRole("table").locator("tbody tr");
  await expect.poll(() => rows.count()).toBeGreaterThan(3);
  const { queues } = queueOf(stage.coordinator.cluster, 100, Date.now());
  const promised = queues.flatMap(({ jobs }) => jobs).filter(({ reserved_ms }) => reserved_ms !== null);
  const starts = region(page, "Next starts").getByRole("listitem");
  await expect.poll(() => starts.count()).toBe(Math.min(5, promised.length));
});

it("without a node says how to come to one", async () => {
  stage.coordinator.cluster.nodes.clear();
  const page = await stage.open("#/overview");
  await page.getByText("No node has joined yet").waitFor();
});

it("takes under 100 ms of script for 1,000 jobs on 60 nodes", async () => {
  const page = await stage.open("#/nowhere");
  await page.locator(".connection-word").filter({ hasText: "Live" }).waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const script = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "ScriptDuration")!.value;
  };
  const before = await script();
  await page.evaluate(() => (location.hash = "#/overview"));
  await page.locator(".map-piece").first().waitFor();
  await region(page, "Goodput by day").scrollIntoViewIfNeeded();
  await region(page, "Goodput by day").locator("canvas").waitFor();
  const taken = (await script()) - before;
  console.log(`the overview takes ${taken.toFixed(0)} ms of script`);
  expect(taken).toBeLessThan(100);
});

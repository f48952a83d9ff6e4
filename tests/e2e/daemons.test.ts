// The dashboard on a real cluster: one coordinator, two agents, a BERT that really trains. Skipped if the daemons
// are not built (PODIUM_BIN_DIR names their folder).
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, openPage, type Watched } from "./support/browser";
import { whyNotReal } from "./support/daemon";
import { RealCluster, realUserToken, trainingSpec } from "./support/real_cluster";

const why = whyNotReal();
if (why) console.log(`skipped: ${why}`);

describe.skipIf(why !== "")("a real cluster", () => {
  let cluster: RealCluster;
  let browser: Browser;
  let watched: Watched;
  let page: Page;
  let job: number;

  beforeAll(async () => {
    cluster = await RealCluster.start();
    browser = await launch();
    watched = await openPage(browser);
    page = watched.page;
    page.setDefaultTimeout(90_000);
    job = await cluster.submit(trainingSpec("e2e-bert"));
  });

  afterAll(async (suite) => {
    if (suite.tasks.some((task) => task.result?.state === "fail")) console.error(await cluster.logs());
    await browser.close();
    await cluster.stop();
  });

  const step = async () => {
    const text = await page.locator(".stat").first().locator(".stat-value").textContent();
    return Number(/^[\d,]+/.exec(text ?? "")?.[0].replace(/,/g, "") ?? 0);
  };
  const untilStep = (wanted: number) =>
    page.waitForFunction((least) => {
      const text = document.querySelector(".stat .stat-value")?.textContent ?? "";
      return Number(/^[\d,]+/.exec(text)?.[0].replace(/,/g, "") ?? 0) > least;
    }, wanted);
  const chartLabel = (title: string) =>
    page.getByRole("region", { name: title, exact: true }).locator(".chart").getAttribute("aria-label");

  it("shows both nodes with the devices that the job holds", async () => {
    await page.goto(`${cluster.url}/#/nodes`);
    await page
      .getByRole("article", { name: "Node node-1" })
      .getByRole("link", { name: `job ${job}` })
      .waitFor();
    await page
      .getByRole("article", { name: "Node node-2" })
      .getByRole("link", { name: `job ${job}` })
      .waitFor();
  });

  it("shows the job running in the table", async () => {
    await page.goto(`${cluster.url}/#/jobs`);
    await page.locator(".data-rows .badge.state-running").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForFunction((id) => location.hash === `#/jobs/${id}`, job);
  });

  it("draws the curves as the worker trains", async () => {
    await page.getByRole("region", { name: "Loss", exact: true }).locator("canvas").waitFor();
    await untilStep(100);
    const before = await chartLabel("Loss");
    await untilStep((await step()) + 20);
    await page.waitForFunction(
      (old) => document.querySelector(".chart")?.getAttribute("aria-label") !== old,
      before,
    );
    expect(await chartLabel("Loss")).toMatch(/train\/loss is [\d.]+ at step \d+/);
    expect(await chartLabel("Loss")).toMatch(/eval\/mlm_loss is [\d.]+ at step \d+/);
    expect(await chartLabel("Target")).toMatch(/eval\/gain_over_unigram is −?[\d.]+/);
    expect(await chartLabel("Throughput")).toMatch(/train\/sequences_per_second is [\d.,]+/);
  });

  it("shows its tasks, its spec, its history with checkpoints", async () => {
    await page.getByRole("tab", { name: "Tasks" }).click();
    for (const node of ["node-1", "node-2"]) await page.getByRole("row").filter({ hasText: node }).waitFor();
    await page.getByRole("tab", { name: "Spec" }).click();
    await page.getByText("name: e2e-bert").first().waitFor();
    await page.getByRole("tab", { name: "History" }).click();
    await page.locator(".history-type", { hasText: "checkpoint saved" }).first().waitFor();
    await page.locator(".attempt-checkpoint").first().waitFor({ state: "attached" });
  });

  it("goes offline with the coordinator, and catches up when it is back; the job never stopped", async () => {
    const before = await step();
    await cluster.killCoordinator();
    await page.getByText("Coordinator unreachable since").waitFor();
    expect(await step()).toBeGreaterThanOrEqual(before);
    await cluster.startCoordinator();
    await page.locator(".banner").waitFor({ state: "detached" });
    await untilStep(before + 20);
    expect(await page.locator(".attempt-bar").count()).toBe(1);
  });

  it("refuses a spec with mistakes, each at its line", async () => {
    await page.evaluate((token) => sessionStorage.setItem("podium.token", token), realUserToken);
    await page.goto(`${cluster.url}/#/submit`);
    await page.getByLabel("Experiment spec, YAML").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(
      trainingSpec("x").replace("labels:", "lable:").replace("per_node: 1", "per_node: many"),
    );
    await page.getByRole("button", { name: "Validate" }).click();
    await page.getByRole("button", { name: "line 3" }).waitFor();
    await page.getByRole("button", { name: "line 14" }).waitFor();
    await page.getByText("labels", { exact: false }).first().waitFor();
  });

  it("cancels the job", async () => {
    await page.goto(`${cluster.url}/#/jobs/${job}`);
    await page.getByRole("button", { name: "Cancel job" }).click();
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await page.locator(".page-header .badge.state-cancelled").waitFor();
    await page.getByText("cancelled", { exact: true }).last().waitFor();
    await page.goto(`${cluster.url}/#/nodes`);
    await page.getByText("2 free").waitFor();
  });

  it("left no error in the page", () => {
    expect(watched.errors).toEqual([]);
  });
});

// Operating a real cluster from the dashboard: one coordinator, two agents, and jobs that only sleep.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, openPage, type Watched } from "./support/browser";
import { whyNotReal } from "./support/daemon";
import { RealCluster, realUserToken } from "./support/real_cluster";

const why = whyNotReal();
if (why) console.log(`skipped: ${why}`);

const sleeping = (name: string, account: string) =>
  `version: 1\nname: ${name}\naccount: ${account}\ncommand: [sleep, "600"]\n` +
  "resources: {devices: 1, kind: cpu, walltime: 1h}\n";

describe.skipIf(why !== "")("operators of a real cluster", () => {
  let cluster: RealCluster;
  let browser: Browser;
  let watched: Watched;
  let page: Page;
  let patient: number;

  beforeAll(async () => {
    cluster = await RealCluster.start();
    for (const account of ["nlp", "nlp/bert", "speech"]) {
      const made = await fetch(`${cluster.url}/api/v1/accounts/${encodeURIComponent(account)}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${realUserToken}`, "Content-Type": "application/json" },
        body: "{}",
      });
      expect(made.status).toBe(200);
    }
    browser = await launch();
    watched = await openPage(browser);
    page = watched.page;
    page.setDefaultTimeout(60_000);
    await page.goto(`${cluster.url}/#/nodes`);
    await page.evaluate((token) => sessionStorage.setItem("podium.token", token), realUserToken);
    await page.getByRole("article", { name: "Node node-1" }).waitFor();
    await page.getByRole("article", { name: "Node node-2" }).waitFor();
  });

  afterAll(async (suite) => {
    if (suite.tasks.some((task) => task.result?.state === "fail")) console.error(await cluster.logs());
    await browser.close();
    await cluster.stop();
  });

  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const goTo = (hash: string) => page.goto(`${cluster.url}/${hash}`);

  it("drains both nodes with a reason", async () => {
    for (const node of ["node-1", "node-2"]) {
      await press(`Drain ${node}`);
      await page.getByLabel("Reason (shown to those who wait)").fill("new fans");
      await press("Drain it");
      await page
        .getByRole("article", { name: `Node ${node}` })
        .getByText("drained: new fans")
        .waitFor();
    }
  });

  it("holds a job, which says so; released it waits for a device, and runs when a node is resumed", async () => {
    const job = (patient = await cluster.submit(sleeping("patient", "nlp/bert")));
    await goTo(`#/jobs/${job}`);
    await press("Hold");
    await page.locator(".why-held", { hasText: `is held; podium release ${job} lets it start` }).waitFor();
    await goTo("#/queue");
    await page.getByRole("grid", { name: "1 job held or after others" }).getByText("patient").waitFor();
    await press(`Release job ${job}`);
    await page.getByRole("grid", { name: "1 job waiting for cpu devices" }).getByText("patient").waitFor();
    await goTo("#/nodes");
    await press("Resume node-1");
    await goTo(`#/jobs/${job}`);
    await page.locator(".page-header .badge.state-running").waitFor();
  });

  it("gives an account a quota, for which a borrowed device is taken back", async () => {
    const within = await cluster.submit(sleeping("within", "speech"));
    await goTo("#/accounts");
    await press("Change speech");
    await page.getByLabel("cpu quota (guaranteed)").fill("1");
    await press("Change it");
    await page.locator("dialog").waitFor({ state: "detached" });
    await goTo(`#/jobs/${within}`);
    await page.locator(".page-header .badge.state-running").waitFor();
    await goTo(`#/jobs/${patient}?tab=history`);
    await page.getByText(`borrowed devices are reclaimed for job ${within}`).first().waitFor();
    await goTo("#/nodes");
    await press("Resume node-2");
    await goTo(`#/jobs/${patient}`);
    await page.locator(".page-header .badge.state-running").waitFor();
  });

  it("requeues a held job, so that it stops until it is released", async () => {
    await press("Hold");
    await page.locator(".page-header .badge.is-held").waitFor();
    await press("Requeue");
    await press("Stop and queue it again");
    await page.locator(".page-header .badge.state-queued").waitFor();
    await page.locator(".why-held").waitFor();
  });

  it("left no error in the page", () => {
    expect(watched.errors).toEqual([]);
  });
});

// Where time went: for a job to the millisecond, for the cluster by day, account, node, experiment or job.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { ledgerOf } from "./fake/ledger";
import { useStage } from "./support/stage";

const stage = useStage(60);
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const body = (page: Page, name: string) => region(page, name).locator("tbody tr");

describe("of a job", () => {
  const open = (id: number, query = "") => stage.open(`#/jobs/${id}?tab=ledger${query}`);

  it("has a sentence, a lane an attempt, and a table that adds up to the whole", async () => {
    const page = await open(stage.quickstart);
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    await page
      .locator(".ledger-sentence", {
        hasText: /since its submission; steps that count took \d+ % of the device time/,
      })
      .waitFor();
    await expect.poll(() => page.locator(".ledger-lanes li").count()).toBe(job.attempt + 1);
    const shares = await body(page, "Time by kind").locator('td[data-title="Share"]').allTextContents();
    const numbers = shares.map((text) => Number.parseFloat(text));
    expect(numbers.at(-1)).toBe(100);
    expect(numbers.slice(0, -1).reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, -1);
    for (const kind of ["steps that count", "steps taken again", "unknown"])
      await body(page, "Time by kind").filter({ hasText: kind }).waitFor();
  });

  it("tells goodput, and how, behind an i", async () => {
    const page = await open(stage.quickstart);
    const { goodput } = ledgerOf(
      stage.coordinator.cluster.jobs.get(stage.quickstart)!,
      stage.coordinator.cluster,
      Date.now(),
    );
    await page.locator(".ledger strong", { hasText: `${Math.round(100 * goodput!)} %` }).waitFor();
    await page.getByRole("button", { name: "About goodput" }).press("Enter");
    await page.getByText("Goodput = device time of steps that count").waitFor();
  });

  it("is in device time when asked, in the address", async () => {
    const page = await open(stage.quickstart);
    await page.getByRole("button", { name: "Device time" }).click();
    await page.waitForFunction(() => location.hash.includes("unit=devices"));
    await page.getByRole("img", { name: /^Device time: / }).waitFor();
  });

  it("lights the pieces of the kind that a row is of", async () => {
    const page = await open(stage.quickstart);
    await body(page, "Time by kind").filter({ hasText: "steps taken again" }).hover();
    const lit = page.locator(".ledger-bar .ledger-lost");
    await expect.poll(() => page.locator(".ledger-bar .is-dim").count()).toBeGreaterThan(3);
    expect(await lit.getAttribute("class")).not.toContain("is-dim");
  });

  it("that waits has only waits, with what blocks it", async () => {
    const waiting = [...stage.coordinator.cluster.jobs.values()].find(({ state }) => state === "queued")!;
    const page = await open(waiting.id);
    await page.getByText(/has held no devices so far; it waited/).waitFor();
    await expect.poll(() => body(page, "Time by kind").count()).toBe(2);
  });

  it("whose program tells nothing says how to tell", async () => {
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    stage.coordinator.putJobUnseen({ ...job, command: true });
    const page = await open(stage.quickstart);
    await page.getByText("Its program does not report its phases").waitFor();
    await page.locator(".ledger strong", { hasText: /%/ }).waitFor();
  });
});

describe("of the cluster", () => {
  it("is by day at first, and by whatever is asked for, in the address", async () => {
    const page = await stage.open("#/ledger");
    const names = body(page, "Device time as a table").getByRole("rowheader");
    await names.first().waitFor();
    for (const day of await names.allTextContents()) expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
    await page.getByRole("button", { name: "Account", exact: true }).click();
    await page.waitForFunction(() => location.hash === "#/ledger?by=account");
    await names.filter({ hasText: "nlp/bert" }).waitFor();
    expect(await names.filter({ hasText: "nlp/bert" }).getByRole("link").getAttribute("href")).toBe(
      "#/jobs?q=account:nlp/bert",
    );
  });

  it("is of an account and those below it, and leads from a job to its own", async () => {
    const page = await stage.open("#/ledger?by=job&range=all");
    const table = body(page, "Device time as a table");
    const all = [...stage.coordinator.cluster.jobs.values()];
    await expect.poll(() => table.count()).toBe(all.length);
    await page.getByLabel("Account", { exact: true }).fill("nlp");
    await page.keyboard.press("Enter");
    const below = all.filter(({ account }) => account.startsWith("nlp/"));
    await expect.poll(() => table.count()).toBe(below.length);
    await table.first().getByRole("link").click();
    await page.locator(".ledger-lane").first().waitFor();
  });

  it("leaves the waits of jobs out until they are asked for", async () => {
    const page = await stage.open("#/ledger?by=node&range=all");
    await page.locator(".ledger-key").waitFor();
    expect(await page.locator(".ledger-key").textContent()).not.toContain("waiting");
    await page.getByLabel("include waiting").check();
    await page.locator(".ledger-key li", { hasText: "waiting" }).waitFor();
    await body(page, "Device time as a table").filter({ hasText: "no node, while jobs waited" }).waitFor();
  });
});

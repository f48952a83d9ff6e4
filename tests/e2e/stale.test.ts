// Data stays when a later request for it fails. The page says when the data was fetched, and the reader can retry.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { useStage } from "./support/stage";

const stage = useStage(200);
const retryAfterS = 600;

/** Its part of the page, what it shows, and the path that is refused. */
const regions: [name: string, hash: () => string, head: string, figures: string, path: RegExp][] = [
  ["the queue", () => "#/queue", ".page-header", ".queue-table .data-rows .data-row", /^queue/],
  ["accounts", () => "#/accounts", ".page-header", ".account-table .data-rows .data-row", /^accounts/],
  ["nodes", () => "#/nodes", ".toolbar", ".node", /^nodes/],
  ["jobs", () => "#/jobs", ".toolbar", ".data-rows .data-row", /^jobs/],
  ["experiments", () => "#/experiments", ".toolbar", ".data-rows .data-row", /^experiments/],
  ["specs in git", () => "#/specs", ".page-header", ".specs tbody tr", /^specs/],
  ["a job", () => `#/jobs/${stage.quickstart}`, ".page-header", ".stats", /^jobs\/\d+$/],
  ["its curves", () => `#/jobs/${stage.quickstart}`, ".chart-toolbar", ".chart canvas", /metrics|series/],
  ["its history", () => `#/jobs/${stage.quickstart}?tab=history`, ".tabs", ".history li", /events/],
  ["why it waits", () => `#/jobs/${stage.quickstart - 3}`, ".why .panel-head", ".why-start", /why$/],
];

/** The coordinator has lost what it knew of this browser: everything is asked for again. */
async function askForAll(page: Page): Promise<void> {
  const job = stage.coordinator.cluster.jobs.get(1)!;
  stage.coordinator.live.closeAll();
  stage.coordinator.putJobUnseen({ ...job });
  await page.locator(".connection-word").filter({ hasText: "Live" }).waitFor();
}

it.each(regions)("%s", async (_, hash, head, figures, path) => {
  const page = await stage.open(hash());
  await page.locator(figures).first().waitFor();
  const asOf = page.locator(head).locator(".as-of");
  expect(await asOf.count()).toBe(0);
  stage.coordinator.network.beBusy(path, Infinity, retryAfterS);
  await askForAll(page);
  await asOf.getByText(/^as of \d\d:\d\d$/).waitFor();
  expect(await asOf.getByText(/as of/).getAttribute("title")).toContain("too much is asked");
  expect(await page.locator(figures).count()).toBeGreaterThan(0);
  stage.coordinator.network.beBusy(path, 0);
  await asOf.getByRole("button", { name: "Retry" }).click();
  await asOf.waitFor({ state: "detached" });
});

it("what has not come at all says why, and can be asked for again", async () => {
  stage.coordinator.network.beBusy(/^queue/, Infinity, retryAfterS);
  const page = await stage.open("#/queue");
  await page.getByText("The queue could not be loaded").waitFor();
  stage.coordinator.network.beBusy(/^queue/, 0);
  await page.getByRole("button", { name: "Retry" }).click();
  await page.locator(".queue-table .data-rows .data-row").first().waitFor();
});

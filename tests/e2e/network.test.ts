// Answers that are lost, late, out of order or refused: the page shows the truth in the end.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { rows, useStage } from "./support/stage";

const stage = useStage(2500);

const summary = (page: Page) => page.locator(".toolbar-summary");
const curves = (page: Page) => page.getByRole("region", { name: "Loss", exact: true });

it.each(["jobs$", "health", "series", "metrics", "events"])(
  "answers to %s that are lost are asked for again",
  async (path) => {
    stage.coordinator.network.loseAnswers(new RegExp(path), 3);
    const page = await stage.open(path.startsWith("jobs") ? "#/jobs" : `#/jobs/${stage.quickstart}`);
    if (path.startsWith("jobs")) await rows(page).first().waitFor();
    else await curves(page).waitFor();
  },
);

it("says that a part of the list is missing while it is refused, and shows it after", async () => {
  const page = await stage.open("#/jobs");
  await rows(page).first().waitFor();
  stage.coordinator.network.beBusy(/^jobs$/, 2);
  await page.evaluate(() => document.querySelector(".data-table")!.scrollTo(0, 36 * 1500));
  await page.locator(".toolbar").getByText("as of").waitFor();
  await page.locator(".data-shape").first().waitFor();
  await page.locator("#job-row-1001").waitFor();
  await page.locator(".toolbar").getByText("as of").waitFor({ state: "detached" });
});

it("a part of the list that is slower than an event does not hide it", async () => {
  const page = await stage.open("#/about");
  await page.locator(".connection-word").filter({ hasText: "Live" }).waitFor();
  let asked = false;
  stage.coordinator.network.delayMs = (path) => (path === "jobs" ? ((asked = true), 1500) : 0);
  await page.evaluate(() => (location.hash = "#/jobs"));
  await expect.poll(() => asked).toBe(true);
  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.putJob({ ...job, name: "newer-than-its-page" });
  await rows(page).first().waitFor();
  expect(await rows(page).first().locator(".c-name").textContent()).toBe("newer-than-its-page");
});

it("a slow list behind a held stream is loaded to its end", async () => {
  stage.coordinator.live.held = true;
  stage.coordinator.network.delayMs = (path) => (path === "jobs" ? 3000 : 0);
  const page = await stage.open("#/jobs");
  const ticking = setInterval(() => stage.coordinator.live.skip(), 1000);
  await summary(page).getByText("2,501 jobs").waitFor({ timeout: 60_000 });
  clearInterval(ticking);
});

it("a forecast that takes longer than what it is of stays the same is shown, and asked for one at a time", async () => {
  let asked = 0;
  let under = 0;
  stage.coordinator.network.delayMs = (path) => (path.endsWith("why") ? ((asked += 1), 1500) : 0);
  const queued = [...stage.coordinator.cluster.jobs.values()].find(({ state }) => state === "queued")!;
  const page = await stage.open(`#/jobs/${queued.id}`);
  page.on("request", (request) => {
    if (request.url().endsWith("why")) expect((under += 1)).toBe(1);
  });
  page.on("requestfinished", (request) => void (request.url().endsWith("why") && (under -= 1)));
  const ticking = setInterval(
    () => stage.coordinator.putJob({ ...queued, reason: `waits, says turn ${Date.now()}` }),
    300,
  );
  await page.getByText("Expected start", { exact: true }).waitFor();
  clearInterval(ticking);
  expect(asked).toBeLessThan(4);
});

// Many tabs of one browser, which opens at most six connections to a host; and the requests of one page.
import { expect, it } from "vitest";
import { userToken } from "./fake/server";
import { badge, rows, useStage } from "./support/stage";

const stage = useStage(10_000);

it("seven tabs share one stream: all load, all hear what changes, and one of them operates", async () => {
  const first = await stage.open("#/jobs");
  const pages = [first];
  while (pages.length < 7) {
    const page = await stage.openBeside(first, `#/jobs/${stage.quickstart}`);
    await page.getByRole("heading", { name: "quickstart" }).waitFor();
    pages.push(page);
  }
  for (const page of pages) await badge(page).filter({ hasText: "Live" }).waitFor();
  expect(stage.coordinator.live.connections).toBe(1);

  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.putJob({ ...job, name: "told-to-all" });
  await rows(first).getByText("told-to-all").waitFor();
  for (const page of pages.slice(1)) await page.getByRole("heading", { name: "told-to-all" }).waitFor();

  await pages[6]!.evaluate((token) => sessionStorage.setItem("podium.token", token), userToken);
  await pages[6]!.getByRole("button", { name: "Hold" }).click();
  await pages[1]!.getByRole("button", { name: "Release" }).waitFor();
});

it("the stream outlives the tab that had it", async () => {
  const first = await stage.open("#/jobs");
  await badge(first).filter({ hasText: "Live" }).waitFor();
  const second = await stage.openBeside(first, `#/jobs/${stage.quickstart}`);
  await badge(second).filter({ hasText: "Live" }).waitFor();
  await first.close();
  await expect.poll(() => stage.coordinator.live.connections).toBe(1);
  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.putJob({ ...job, name: "told-by-another" });
  await second.getByRole("heading", { name: "told-by-another" }).waitFor();
});

it("a link to one job asks for that job alone, once", async () => {
  const page = await stage.open("#/about");
  await badge(page).filter({ hasText: "Live" }).waitFor();
  const asked: { path: string; bytes: number }[] = [];
  page.on("response", async (response) => {
    const path = new URL(response.url()).pathname.split("/api/v1/")[1];
    if (path === undefined) return;
    const entry = { path, bytes: 0 };
    asked.push(entry);
    if (path !== "live") entry.bytes = (await response.body()).length;
  });
  await page.goto("about:blank");
  await page.goto(`${stage.coordinator.url}/#/jobs/${stage.quickstart}`);
  await page.getByRole("region", { name: "Loss", exact: true }).waitFor();
  await badge(page).filter({ hasText: "Live" }).waitFor();
  const job = `jobs/${stage.quickstart}`;
  const paths = asked.map(({ path }) => path);
  // The end of a log that is written to is asked for again and again.
  const first = paths.filter((path, index) => !path.endsWith("/logs") || paths.indexOf(path) === index);
  expect(first.sort()).toEqual(
    [
      "health",
      "live",
      job,
      `${job}/events`,
      `${job}/logs`,
      `${job}/metrics`,
      `${job}/projection`,
      `${job}/series`,
    ].sort(),
  );
  const curves = asked.find(({ path }) => path.endsWith("series"))!.bytes;
  const bytes = asked.reduce((sum, entry) => sum + entry.bytes, 0);
  console.log(`${asked.length} requests, ${bytes - curves} bytes and ${curves} of curves`);
  expect(bytes - curves).toBeLessThan(50_000);
});

it("a hidden tab lets go of the stream, and goes on from its last message when it is shown", async () => {
  const page = await stage.open("#/jobs");
  await badge(page).filter({ hasText: "Live" }).waitFor();
  await rows(page).first().waitFor();
  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.putJob({ ...job, name: "before-it-was-hidden" });
  await rows(page).getByText("before-it-was-hidden").waitFor();
  const last = stage.coordinator.live.toldId;
  const hide = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await hide(true);
  await expect.poll(() => stage.coordinator.live.connections, { timeout: 20_000 }).toBe(0);
  stage.coordinator.putJob({ ...job, name: "while-it-was-hidden" });
  const lists: string[] = [];
  page.on("request", (request) => /\/jobs\?/.test(request.url()) && lists.push(request.url()));
  await hide(false);
  await rows(page).getByText("while-it-was-hidden").waitFor();
  expect(stage.coordinator.live.resumedFrom.at(-1)).toBe(last);
  expect(lists).toEqual([]);
});

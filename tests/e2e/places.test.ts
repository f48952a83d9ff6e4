// Going from page to page: where a page opens, what Back restores, the title of the browser's tab.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { rows, useStage } from "./support/stage";

const stage = useStage(400, 40);
const scrolled = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => element.scrollTop);
const scroll = (page: Page, selector: string, top: number) =>
  page.locator(selector).evaluate((element, to) => element.scrollTo(0, to), top);

it("a page opens at its top, however far the one before was scrolled", async () => {
  const page = await stage.open("#/nodes", { viewport: { width: 1000, height: 320 } });
  await page.locator(".node").first().waitFor();
  await scroll(page, "main", 100);
  await expect.poll(() => scrolled(page, "main")).toBe(100);
  await page.evaluate((to) => (location.hash = to), `#/jobs/${stage.quickstart}`);
  await page.locator(".stats").waitFor();
  expect(await scrolled(page, "main")).toBe(0);
  await page.goBack();
  await page.locator(".node").first().waitFor();
  await expect.poll(() => scrolled(page, "main")).toBe(100);
});

it("Back finds the jobs table as it was: scrolled, with its row", async () => {
  const page = await stage.open("#/jobs");
  await rows(page).first().waitFor();
  await scroll(page, ".data-table", 4000);
  await expect.poll(() => scrolled(page, ".data-table")).toBe(4000);
  const row = page.locator('.data-row[aria-rowindex="122"]');
  const id = await row.locator(".c-id").textContent();
  await row.locator(".c-state").click();
  await page.locator(".stats").waitFor();
  await page.goBack();
  await expect.poll(() => scrolled(page, ".data-table")).toBe(4000);
  expect(await page.locator(".data-row.is-current .c-id").textContent()).toBe(id);
});

it("a narrow window shows the first three pages, and the others in a menu that tells which is shown", async () => {
  const page = await stage.open("#/jobs", { viewport: { width: 390, height: 800 } });
  const nav = page.getByRole("navigation", { name: "Pages" });
  const links = nav.getByRole("link");
  const all = ["Overview", "Jobs", "Experiments", "Board", "Queue", "Nodes", "Accounts", "Ledger"];
  await links.first().waitFor();
  expect(await links.allTextContents()).toEqual(all.slice(0, 3));
  await nav.getByRole("button", { name: "More pages" }).click();
  expect(await links.allTextContents()).toEqual(all);
  await page.keyboard.press("Escape");
  await expect.poll(() => links.count()).toBe(3);
  await nav.getByRole("button", { name: "More pages" }).click();
  await page.mouse.click(200, 600);
  await expect.poll(() => links.count()).toBe(3);
  await nav.getByRole("button", { name: "More pages" }).click();
  await links.getByText("Nodes").click();
  await nav.getByRole("button", { name: "Nodes, more pages" }).waitFor();
  await page.locator(".node").first().waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(await links.allTextContents()).toEqual(all);
});

it("Back undoes the choice of a tab, and neither moves the page", async () => {
  const page = await stage.open(`#/jobs/${stage.quickstart}`, { viewport: { width: 1000, height: 500 } });
  await page.locator(".chart canvas").first().waitFor();
  await page.locator(".log-text").getByText("rank 0 of 2").waitFor();
  const top = 200;
  await scroll(page, "main", top);
  await expect.poll(() => scrolled(page, "main")).toBe(top);
  // A press of the mouse would bring it into sight first.
  await page.getByRole("tab", { name: "Tasks" }).dispatchEvent("click");
  await page.getByRole("columnheader", { name: "Rank" }).waitFor();
  expect(new URL(page.url()).hash).toBe(`#/jobs/${stage.quickstart}?tab=tasks`);
  expect(await scrolled(page, "main")).toBe(top);
  await page.goBack();
  await page.locator(".log-text").waitFor();
  expect(await scrolled(page, "main")).toBe(top);
  await page.goForward();
  await page.getByRole("columnheader", { name: "Rank" }).waitFor();
});

it("the tab tells the job and how it stands, as that changes", async () => {
  const page = await stage.open(`#/jobs/${stage.quickstart}`);
  await expect.poll(() => page.title()).toBe(`quickstart · ${stage.quickstart} · running`);
  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.putJob({ ...job, state: "stopping" });
  await expect.poll(() => page.title()).toBe(`quickstart · ${stage.quickstart} · stopping`);
  await page.getByRole("link", { name: "Queue" }).click();
  await expect.poll(() => page.title()).toBe("Queue · Podium");
});

it("a browser that refuses its storage shows the page all the same, in the system's theme", async () => {
  const page = await stage.open("#/nowhere", { colorScheme: "dark" });
  await page.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("refused", "SecurityError");
    };
    for (const storage of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, storage, { get: refuse });
  });
  await page.goto(`${stage.coordinator.url}/?again#/jobs`);
  await rows(page).first().waitFor();
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
});

it("single letters do nothing once they are switched off; the other keys still do", async () => {
  const page = await stage.open("#/jobs");
  await rows(page).first().waitFor();
  await page.keyboard.press("?");
  await page.getByLabel("Single letters are shortcuts").uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  for (const key of ["g", "n", "j", "?"]) await page.keyboard.press(key);
  expect(await page.locator(".data-row.is-current").count()).toBe(0);
  await page.getByRole("grid").focus();
  await page.keyboard.press("ArrowDown");
  await page.locator(".data-row.is-current").waitFor();
  expect(new URL(page.url()).hash).toBe("#/jobs");
});

// axe-core finds no violation on dialogs and banners; accessibility_*.test.ts check every page.
import { expect, it } from "vitest";
import { routes } from "../../web/src/routes";
import { violations } from "./support/accessible";
import { samples } from "./support/pages";
import { useStage } from "./support/stage";

const stage = useStage(200);

it("every page of the table of routes is looked at", () => {
  expect(new Set(samples(201).map(({ route }) => route))).toEqual(
    new Set([...routes.map(({ path }) => path), ""]),
  );
});

it("the dialogs", async () => {
  const page = await stage.open("#/jobs/201");
  await page.getByRole("button", { name: "Keyboard help" }).click();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Cancel job" }).click();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByLabel("Token", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
});

it("the dialogs of operators", async () => {
  const page = await stage.open("#/jobs/201");
  await page.getByRole("button", { name: "Priority…" }).click();
  expect(await violations(page)).toEqual([]);
  await page.goto(`${stage.coordinator.url}/#/accounts`);
  await page.getByRole("button", { name: "Change nlp", exact: true }).click();
  expect(await violations(page)).toEqual([]);
  for (const name of ["Drain node-1", "Reserve node-1", "Labels of node-1"]) {
    await page.goto(`${stage.coordinator.url}/#/nodes`);
    await page.getByRole("button", { name, exact: true }).click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
  }
});

it("the banner while the coordinator is away", async () => {
  const page = await stage.open("#/jobs");
  await page.locator(".data-rows .data-row").first().waitFor();
  await stage.coordinator.stop();
  await page.locator(".banner").waitFor();
  expect(await violations(page)).toEqual([]);
});

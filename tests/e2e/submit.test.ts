// The submit page: every problem at its line, nothing queued while there is one, and the link to the new job.
import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { userToken } from "./fake/server";
import { useStage } from "./support/stage";

const stage = useStage(5);

async function openEditor(): Promise<Page> {
  const page = await stage.open("#/submit");
  await page.evaluate((token) => sessionStorage.setItem("podium.token", token), userToken);
  await page.getByLabel("Experiment spec, YAML").click();
  return page;
}

async function replaceText(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

it("shows all problems at their lines and goes to a line", async () => {
  const page = await openEditor();
  await replaceText(page, "version: 1\nname: x\nlable: {team: nlp}\nresources: {devices: -1}\n");
  await page.getByRole("button", { name: "Validate" }).click();
  await page.getByText("2 problems; nothing was queued.").waitFor();
  await page.getByText('unknown key "lable"; did you mean "labels"?').waitFor();
  expect(await page.locator(".cm-lint-marker-error").count()).toBe(2);
  await page.getByRole("button", { name: "line 4" }).click();
  expect(await page.locator(".cm-activeLine").textContent()).toContain("devices: -1");
});

it("shows a valid spec with its defaults, and links to the job once it is submitted", async () => {
  const page = await openEditor();
  await page.getByRole("button", { name: "Validate" }).click();
  await page.getByText("Valid: 1 job").waitFor();
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("link", { name: /^Job 7/ }).click();
  await page.waitForFunction(() => location.hash === "#/jobs/7");
});

it("keeps the text while another page is looked at", async () => {
  const page = await openEditor();
  await replaceText(page, "name: kept\n");
  await page.getByRole("link", { name: "Nodes" }).click();
  await page.getByRole("link", { name: "Submit" }).click();
  await page.getByText("kept").waitFor();
});

it("a submission whose answer was lost may be made again, and is queued once", async () => {
  const page = await openEditor();
  await page.evaluate((token) => sessionStorage.setItem("podium.token", token), userToken);
  const queued = () => stage.coordinator.cluster.jobs.size;
  const before = queued();
  // In the browser: a connection that breaks makes Chromium itself ask again, which its key allows as well.
  const loseTheAnswer = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  await page.route("**/api/v1/experiments", loseTheAnswer, { times: 1 });
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByText("It may have made the change: look at the list.").waitFor();
  expect(queued()).toBe(before + 1);
  await page.goto(`${stage.coordinator.url}/#/jobs`);
  await page.goto(`${stage.coordinator.url}/#/submit`);
  await page.locator(".cm-content").waitFor();
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByText("Submitted.").waitFor();
  expect(queued()).toBe(before + 1);
});

// Runs that programs elsewhere logged over MLflow's API, and what was logged of jobs.
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { userToken } from "./fake/server";
import { trackedJob, trackingOf } from "./fake/tracking";
import { useStage } from "./support/stage";

const stage = useStage(5);

const runOf = (id: number) => trackingOf(stage.coordinator.cluster.jobs.get(id)!);
const text = async (page: Page, selector: string) =>
  (await page.locator(selector).allTextContents()).join(" ");

it("the address that MLflow's clients print leads to the job", async () => {
  const { run_id, experiment_id } = runOf(trackedJob);
  const page = await stage.open(`#/experiments/${experiment_id}/runs/${run_id}`);
  await page.getByRole("heading", { name: "laptop-finetune" }).waitFor();
  expect(new URL(page.url()).hash).toBe(`#/jobs/${trackedJob}`);
});

it("a tracked run has curves and what was logged, and nothing that only a scheduled job has", async () => {
  const page = await stage.open(`#/jobs/${trackedJob}`);
  await page.locator(".run-texts a").first().waitFor();
  await page.locator("canvas").first().waitFor();
  const texts = await text(page, ".run-texts tr");
  for (const part of ["learning_rate", "3e-05", "mlflow.user", "mei", "notes.md", "model/"])
    expect(texts).toContain(part);
  expect(await page.getByRole("region", { name: "Attempts" }).count()).toBe(0);
  expect(await page.getByRole("tab").count()).toBe(0);
  expect(await text(page, ".stats .stat")).toContain("900 steps");
  expect(await page.getByRole("progressbar").count()).toBe(0);
  expect(await text(page, ".stats dt")).not.toMatch(/Devices|Attempt|Priority/);
  for (const name of ["Reproduce", "Requeue", "Go on", "Hold"])
    expect(await page.getByRole("button", { name }).count(), name).toBe(0);
});

it("a job shows what was logged, without what its spec says", async () => {
  const page = await stage.open(`#/jobs/${stage.quickstart}`);
  await page.getByRole("tab", { name: "Run" }).click();
  const parameters = page.getByRole("region", { name: "Parameters" });
  await parameters.getByText("seed").waitFor();
  expect(await parameters.getByText("model.family").count()).toBe(0);
  await page.getByText(runOf(stage.quickstart).run_id).waitFor();
});

it("the list marks tracked runs", async () => {
  const page = await stage.open("#/jobs");
  const row = page.locator(".data-row").filter({ hasText: "laptop-finetune" });
  await row.getByText("tracked", { exact: true }).waitFor();
  expect(await page.getByText("tracked", { exact: true }).count()).toBe(1);
});

it("folders of artifacts open and close, and the address remembers", async () => {
  const page = await stage.open(`#/jobs/${trackedJob}`);
  await page.getByRole("button", { name: "model/", exact: true }).click();
  await page.getByRole("button", { name: "data/", exact: true }).click();
  await page.getByText("weights.safetensors").waitFor();
  expect(new URL(page.url()).hash).toContain("artifacts=model/data");
  await page.reload();
  await page.getByText("weights.safetensors").waitFor();
  await page.getByRole("button", { name: "model", exact: true }).click();
  await page.getByText("MLmodel").waitFor();
  await page.getByRole("button", { name: "artifacts", exact: true }).click();
  await page.getByText("notes.md").waitFor();
  await page.goBack();
  await page.getByText("MLmodel").waitFor();
});

async function saved(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "confusion matrix.png" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("confusion matrix.png");
  return readFile(await download.path(), "utf8");
}

it("a click on a file saves it, with the token where reading needs one", async () => {
  const page = await stage.open(`#/jobs/${trackedJob}`);
  const path = `${runOf(trackedJob).artifacts}/confusion matrix.png`;
  expect(await saved(page)).toBe(path);
  stage.coordinator.readsNeedToken = true;
  await page.reload();
  await page.getByLabel("Token", { exact: true }).fill(userToken);
  await page.keyboard.press("Enter");
  expect(await saved(page)).toBe(path);
});

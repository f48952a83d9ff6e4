// The list of experiments: the states of the jobs of those in sight, as they change.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { rows, useStage } from "./support/stage";

const stage = useStage(1200);

const row = (page: Page, experiment: number) => page.locator(`#experiment-row-${experiment}`);

it("tells how the jobs of each stand, two questions at a time, and of those in sight alone", async () => {
  let [most, asked] = [0, 0];
  const page = await stage.open("#/about");
  const underWay = new Set<unknown>();
  page.on("request", (request) => {
    if (!request.url().includes("/jobs?")) return;
    asked += 1;
    most = Math.max(most, underWay.add(request).size);
  });
  page.on("requestfinished", (request) => void underWay.delete(request));
  page.on("requestfailed", (request) => void underWay.delete(request));
  await page.evaluate(() => (location.hash = "#/experiments"));
  await rows(page).first().waitFor();
  const { experiments, jobs } = stage.coordinator.cluster;
  for (const id of [400, 399]) {
    const members = experiments.get(id)!.jobs.map((job) => jobs.get(job)!.state);
    for (const state of new Set(members)) {
      const count = members.filter((each) => each === state).length;
      await row(page, id).getByText(`${count} ${state}`, { exact: true }).waitFor();
    }
  }
  expect(most).toBeLessThanOrEqual(2);
  expect(asked).toBeLessThan(60);
});

it("counts again when one of their jobs is in another state", async () => {
  const page = await stage.open("#/experiments");
  await rows(page).first().waitFor();
  const { experiments, jobs } = stage.coordinator.cluster;
  for (const id of experiments.get(400)!.jobs)
    stage.coordinator.putJob({ ...jobs.get(id)!, state: "cancelled", ended_ms: Date.now() });
  await row(page, 400).getByText("3 cancelled", { exact: true }).waitFor();
});

it("shows an experiment that is submitted meanwhile", async () => {
  const page = await stage.open("#/experiments");
  await rows(page).first().waitFor();
  const { experiments, jobs } = stage.coordinator.cluster;
  const [model, made] = [experiments.get(400)!, 9001];
  experiments.set(made, { ...model, id: made, name: "just-submitted", jobs: [1300] });
  stage.coordinator.putJob({ ...jobs.get(1200)!, id: 1300, experiment: made, state: "queued" });
  await row(page, made).getByText("1 queued", { exact: true }).waitFor();
});

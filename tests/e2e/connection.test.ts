// What the page does when the coordinator stops, comes back, restarts, or can only be reached in part.
import { expect, it } from "vitest";
import { refreshMs } from "../../web/src/state/job_windows";
import { userToken } from "./fake/server";
import { badge, banner, rows, useStage } from "./support/stage";

const stage = useStage(30);

const state = (word: string) => (text: string | null) => text === word;

async function untilBadge(page: import("playwright-core").Page, word: string): Promise<void> {
  await badge(page).filter({ hasText: word }).waitFor();
  expect(state(word)(await badge(page).textContent())).toBe(true);
}

it("keeps showing what it knows while the coordinator is away, and catches up when it is back", async () => {
  const page = await stage.open("#/jobs");
  await untilBadge(page, "Live");
  await rows(page).first().waitFor();
  await stage.coordinator.stop();
  await banner(page).getByText("Coordinator unreachable since").waitFor();
  await banner(page)
    .getByText(/Retrying/)
    .waitFor();
  expect(await rows(page).count()).toBeGreaterThan(5);

  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.putJobUnseen({ ...job, name: "changed-meanwhile" });
  await stage.coordinator.start();
  await banner(page).getByRole("button", { name: "Retry now" }).click();
  await untilBadge(page, "Live");
  await banner(page).waitFor({ state: "detached" });
  await rows(page).getByText("changed-meanwhile").waitFor();
});

it("comes back by itself", async () => {
  const page = await stage.open("#/nodes");
  await untilBadge(page, "Live");
  await stage.coordinator.stop();
  await banner(page).waitFor();
  await stage.coordinator.start();
  await untilBadge(page, "Live");
});

it("resumes a stream that broke where it ended, without loading everything again", async () => {
  const page = await stage.open("#/jobs");
  await untilBadge(page, "Live");
  await rows(page).first().waitFor();
  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  // What moves no row has no list asked for again; the first news of a job is taken for a move.
  const putStep = (step: number) =>
    stage.coordinator.putJob({ ...job, progress: { step, steps: 9000, updated_ms: Date.now() } });
  putStep(1234);
  await rows(page).getByText("1,234").waitFor();
  await page.waitForTimeout(1.5 * refreshMs);
  const before = stage.coordinator.live.toldId;
  const lists: string[] = [];
  page.on("request", (request) => /\/jobs\?/.test(request.url()) && lists.push(request.url()));
  stage.coordinator.live.closeAll();
  putStep(5678);
  await rows(page).getByText("5,678").waitFor();
  expect(stage.coordinator.live.resumedFrom.at(-1)).toBe(before);
  expect(lists).toEqual([]);
});

it("loads everything again when it has fallen too far behind", async () => {
  const page = await stage.open("#/jobs");
  await untilBadge(page, "Live");
  await rows(page).first().waitFor();
  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.live.closeAll();
  stage.coordinator.putJobUnseen({ ...job, name: "lost-on-the-way" });
  await rows(page).getByText("lost-on-the-way").waitFor();
});

it.each(["refused", "held back"])("asks every few seconds when the stream is %s", async (how) => {
  stage.coordinator.streamsBroken = how === "refused";
  stage.coordinator.live.held = how === "held back";
  const page = await stage.open("#/jobs");
  await untilBadge(page, "Every 5 s");
  const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
  stage.coordinator.putJobUnseen({ ...job, name: "found-by-polling" });
  await rows(page).getByText("found-by-polling").waitFor();
});

it("asks for the token when reading needs it", async () => {
  stage.coordinator.readsNeedToken = true;
  const page = await stage.open("#/jobs");
  await page.getByLabel("Token", { exact: true }).fill(userToken);
  await page.getByRole("button", { name: "Use this token" }).click();
  await untilBadge(page, "Live");
  await rows(page).first().waitFor();
});

it("says how to begin when there is nothing yet", async () => {
  stage.coordinator.cluster.jobs.clear();
  stage.coordinator.cluster.nodes.clear();
  stage.coordinator.cluster.experiments.clear();
  const page = await stage.open("#/jobs");
  await page.getByText("podium submit experiment.yaml").waitFor();
  await page.goto(`${stage.coordinator.url}/#/nodes`);
  await page.getByText("podium-agent --coordinator").waitFor();
  await page.goto(`${stage.coordinator.url}/#/experiments`);
  await page.getByText("No experiments yet").waitFor();
});

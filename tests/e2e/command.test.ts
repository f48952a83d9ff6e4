// A job that runs a program of its own does not look like a training that has yet to begin.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { useStage } from "./support/stage";

const stage = useStage(5);

/** The quick start's job as one that ran a command without metrics; its output went to stdout. */
async function openCommand(state: "running" | "succeeded" = "succeeded"): Promise<Page> {
  const { jobs } = stage.coordinator.cluster;
  const job = jobs.get(stage.quickstart)!;
  jobs.set(job.id, {
    ...job,
    state,
    ended_ms: state === "running" ? null : job.started_ms! + 399_000,
    progress: null,
    latest: {},
    target: null,
    time_to_train_seconds: state === "running" ? null : 399,
  });
  const page = await stage.open("#/nowhere");
  const api = `**/jobs/${job.id}`;
  await page.route(api, async (route) => {
    const answer = await route.fetch();
    const detail = {
      ...((await answer.json()) as object),
      spec: { command: ["python3", "train.py", "--lr", "1e-3"] },
    };
    await route.fulfill({ response: answer, json: detail });
  });
  await page.route(`${api}/metrics*`, (route) => route.fulfill({ json: { metrics: [] } }));
  await page.route(`${api}/logs?*`, async (route) => {
    const answer = await route.fetch();
    if (!route.request().url().includes("stdout")) return route.fulfill({ response: answer, body: "" });
    return route.fulfill({ response: answer });
  });
  await page.evaluate((id) => (location.hash = `#/jobs/${id}`), job.id);
  return page;
}

it("shows its command, when it ran and where, and no training that never was", async () => {
  const page = await openCommand();
  await page.getByText("python3 train.py --lr 1e-3").waitFor();
  const stat = (name: string) => page.locator(".stat").filter({ has: page.getByText(name, { exact: true }) });
  expect(await stat("Ran for").textContent()).toMatch(/\d\d:\d\d:\d\d to \d\d:\d\d:\d\d/);
  expect(await stat("Nodes").textContent()).toContain("node-1, node-2");
  for (const none of ["Progress", "Loss", "Throughput", "Time to train"])
    expect(await stat(none).count()).toBe(0);
  expect(await page.getByText("metrics").count()).toBe(0);
});

it("opens its log where its output is, until the reader chooses", async () => {
  const page = await openCommand("running");
  await page.getByRole("log", { name: "Log of rank 0, stdout" }).getByText("rank 0 of 2").waitFor();
  await page.getByRole("button", { name: "stderr" }).click();
  await page.getByText("Nothing written to stderr yet.").waitFor();
});

it("finds the output of a training that wrote to stdout alone", async () => {
  const page = await stage.open("#/nowhere");
  await page.route(`**/jobs/${stage.quickstart}/logs?*stderr*`, async (route) =>
    route.fulfill({ response: await route.fetch(), body: "", headers: { "X-Podium-Next-Offset": "0" } }),
  );
  await page.evaluate((id) => (location.hash = `#/jobs/${id}`), stage.quickstart);
  await page.getByRole("log", { name: "Log of rank 0, stdout" }).getByText("rank 0 of 2").waitFor();
});

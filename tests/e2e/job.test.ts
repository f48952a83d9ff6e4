// One job: its curves and how they grow, the attempts, the log, the spec, and cancelling it.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { JobDetail } from "../../web/src/api/types";
import { trainOneStep } from "./fake/training";
import { userToken } from "./fake/server";
import { useStage } from "./support/stage";

const stage = useStage(40);

const openJob = (query = "", id = stage.quickstart) => stage.open(`#/jobs/${id}${query}`);
const legend = (page: Page, key: string) =>
  page.locator(".legend-entry").filter({ has: page.getByText(key, { exact: true }) });
const inkedPixels = (page: Page, panel: string) =>
  page
    .getByRole("region", { name: panel, exact: true })
    .locator("canvas")
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let inked = 0;
      // Grey is the grid and the ticks; a curve has colour.
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue] = [data[at]!, data[at + 1]!, data[at + 2]!];
        if (data[at + 3]! > 100 && Math.max(red, green, blue) - Math.min(red, green, blue) > 80) inked += 1;
      }
      return inked;
    });

describe("curves", () => {
  it("draws loss, target, accuracy and throughput and reads out the last values", async () => {
    const page = await openJob();
    for (const panel of ["Loss", "Target", "Accuracy", "Throughput"]) {
      await page.getByRole("region", { name: panel, exact: true }).locator("canvas").waitFor();
      expect(await inkedPixels(page, panel), panel).toBeGreaterThan(200);
    }
    expect(await legend(page, "eval/unigram_loss").locator(".legend-value").textContent()).toBe("5.620");
  });

  it("grows as metrics arrive, without asking again", async () => {
    const page = await openJob();
    await legend(page, "train/loss").waitFor();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    for (let step = 0; step < 5; step += 1) trainOneStep(stage.coordinator, stage.quickstart);
    await page.getByText("1,290", { exact: false }).first().waitFor();
    await page.waitForFunction(() =>
      document.querySelector(".chart")?.getAttribute("aria-label")?.includes("at step 1290"),
    );
    expect(requests.filter((url) => url.includes("/series"))).toEqual([]);
  });

  it("hides a curve, changes the axis and the scale, and the address remembers", async () => {
    const page = await openJob();
    await legend(page, "train/loss").click();
    await page.getByRole("button", { name: "Wall-clock" }).click();
    await page.getByRole("button", { name: "Log", exact: true }).click();
    await page.waitForFunction(() => location.hash.endsWith("?flip=train/loss&x=time&y=log"));
    await page.reload();
    expect(await legend(page, "train/loss").getAttribute("aria-pressed")).toBe("false");
    expect(await page.getByText("linear: not all values are positive").count()).toBeGreaterThan(0);
  });

  it("reads out the values under the crosshair in every chart", async () => {
    const page = await openJob();
    const loss = page.getByRole("region", { name: "Loss", exact: true });
    const value = legend(page, "eval/mlm_accuracy").locator(".legend-value");
    const last = await value.textContent();
    await loss.locator(".u-over").hover({ position: { x: 40, y: 60 } });
    await loss.locator(".cursor-position").waitFor();
    expect(await value.textContent()).not.toBe(last);
  });

  it("says what is missing when a job has no metrics", async () => {
    const { jobs } = stage.coordinator.cluster;
    const job = {
      ...jobs.get(stage.quickstart)!,
      id: 500,
      state: "queued" as const,
      started_ms: null,
      progress: null,
      latest: {},
      attempt: 0,
    };
    jobs.set(job.id, { ...job, reason: "waiting: needs 2 free cpu devices" });
    const page = await openJob("", job.id);
    await page.getByText("No metrics yet").waitFor();
    await page.getByText("waiting: needs 2 free cpu devices").first().waitFor();
    await page.getByText("No attempt has started.").waitFor();
  });

  it("says why a queued job waits, until when and what would start it sooner, until it starts", async () => {
    const { jobs } = stage.coordinator.cluster;
    const reason = "needs 4 nodes that are up with 8 free gpu devices each; 3 nodes have as many";
    const job = { ...jobs.get(stage.quickstart)!, id: 501, state: "queued" as const, reason };
    jobs.set(job.id, job);
    const page = await openJob("", job.id);
    const panel = page.getByRole("region", { name: "Why is it waiting" });
    await panel.getByText(reason).waitFor();
    expect(await page.getByText(reason).count()).toBe(1);
    await panel.getByText("in 1h 18m").waitFor();
    await panel.getByText(/between 26m.* and 2h 10m/).waitFor();
    await panel.getByText("with a walltime of 2h or less: at once, by backfill").waitFor();
    await panel.getByText("resources.walltime: 2h").waitFor();
    expect(await panel.getByRole("link", { name: "See job 12" }).getAttribute("href")).toBe("#/jobs/12");
    stage.coordinator.putJob({ ...job, state: "running", reason: "" });
    await panel.waitFor({ state: "detached" });
  });

  it("says there is no such job", async () => {
    const page = await openJob("", 4242);
    await page.getByText("There is no job 4242").waitFor();
  });
});

describe("attempts", () => {
  it("lie on a time line with their ends, reasons and checkpoints", async () => {
    const page = await openJob();
    await page.locator(".attempt-checkpoint").nth(11).waitFor({ state: "attached" });
    expect(await page.locator(".attempt-bar").count()).toBe(3);
    await page.getByText("made room for a job of higher priority").first().waitFor();
  });

  it("say where the newest checkpoint lies", async () => {
    const page = await stage.open("#/nowhere");
    const path = "jobs/41/checkpoints/step-00001200";
    await page.route(`**/jobs/${stage.quickstart}`, async (route) => {
      const answer = await route.fetch();
      const checkpoint = {
        attempt: 3,
        step: 1200,
        time_ms: Date.now(),
        path,
        bytes: 4_299_162,
        seconds: 0.04,
      };
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), checkpoint } });
    });
    await page.evaluate((id) => (location.hash = `#/jobs/${id}`), stage.quickstart);
    await page.getByText("Newest checkpoint: step 1,200, 4.1 MiB").waitFor();
    await page.getByText(path).waitFor();
  });

  it("list their tasks, of which one that is pressed opens its log", async () => {
    const page = await openJob("?tab=tasks&attempt=1");
    await page.getByRole("link", { name: "node-2" }).waitFor();
    expect(await page.getByRole("gridcell", { name: "signal 9" }).count()).toBe(2);
    await page
      .getByRole("row")
      .filter({ hasText: "node-2" })
      .getByRole("gridcell", { name: "exited" })
      .click();
    await page.waitForFunction(() => location.hash.endsWith("?attempt=1&rank=1"));
    await page.getByRole("log", { name: "Log of rank 1, stderr" }).waitFor();
  });

  it("of 1,472 ranks draw those in sight, and every device that a process drives", async () => {
    const { jobs } = stage.coordinator.cluster;
    const [ranks, perNode] = [1472, 8];
    jobs.set(stage.quickstart, { ...jobs.get(stage.quickstart)!, devices: ranks, per_node: perNode });
    const page = await stage.open("#/nowhere");
    await page.route(`**/jobs/${stage.quickstart}`, async (route) => {
      const answer = await route.fetch();
      const detail = (await answer.json()) as JobDetail;
      for (const task of detail.attempts.at(-1)!.tasks) task.devices = [task.device, task.device + 1];
      await route.fulfill({ response: answer, json: detail });
    });
    await page.evaluate((id) => (location.hash = `#/jobs/${id}?tab=tasks`), stage.quickstart);
    const table = page.getByRole("grid", { name: "Tasks of attempt 3" });
    await table.getByRole("link", { name: "node-1", exact: true }).first().waitFor();
    expect(await table.getAttribute("aria-rowcount")).toBe("1473");
    expect(await table.getByRole("row").filter({ hasText: "node-1" }).first().textContent()).toContain(
      "0, 1",
    );
    expect(await page.locator(".task-table .data-row").count()).toBeLessThan(50);
    await table.focus();
    await page.keyboard.press("End");
    await table.getByRole("link", { name: "node-184" }).last().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("log", { name: "Log of rank 1471, stderr" }).waitFor();
    expect(await page.locator("option").count()).toBeLessThan(10);
    await page.getByRole("spinbutton", { name: "Rank" }).fill("700");
    await page.keyboard.press("Enter");
    await page.getByRole("log", { name: "Log of rank 700, stderr" }).waitFor();
    await page.getByText("of 1,472 · node-88").waitFor();
  });
});

describe("log", () => {
  const text = (page: Page) => page.getByRole("log");
  const fromEnd = (page: Page) =>
    text(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);

  it("follows the end as it grows, pauses when scrolled up, and goes on when asked", async () => {
    const page = await openJob();
    await text(page).getByText("step 1200:").waitFor();
    expect(await fromEnd(page)).toBeLessThan(5);
    stage.coordinator.logLines = 130;
    await text(page).getByText("step 1300:").waitFor();
    expect(await fromEnd(page)).toBeLessThan(5);
    await text(page).evaluate((box) => box.scrollTo(0, 0));
    stage.coordinator.logLines = 140;
    await text(page).getByText("step 1400:").waitFor();
    expect(await text(page).evaluate((box) => box.scrollTop)).toBe(0);
    await page.getByRole("button", { name: /^Paused/ }).click();
    await page.getByRole("button", { name: /^Paused/ }).waitFor({ state: "detached" });
    expect(await fromEnd(page)).toBeLessThan(5);
  });

  it("is chosen by attempt, rank and stream, in the address", async () => {
    const page = await openJob();
    await page.getByRole("combobox", { name: "Attempt" }).selectOption("2");
    await page.getByRole("combobox", { name: "Rank" }).selectOption("1");
    await page.getByRole("button", { name: "stdout" }).click();
    await page.waitForFunction(() => location.hash.endsWith("?attempt=2&rank=1&stream=stdout"));
    await text(page).getByText("rank 1 of 2").waitFor();
  });
});

describe("spec", () => {
  it("shows the YAML as written, the normalised form, and a dirty commit", async () => {
    const page = await openJob("?tab=spec");
    await page.getByText("# BERT on the King James Bible", { exact: false }).waitFor();
    await page.getByText("with uncommitted changes").waitFor();
    await page.getByRole("button", { name: "With every default" }).click();
    await page
      .getByText("attention_dropout", { exact: false })
      .or(page.getByText("epsilon", { exact: false }))
      .first()
      .waitFor();
  });
});

describe("cancel", () => {
  it("asks first, wants the token once, and cancels", async () => {
    const page = await openJob();
    await page.getByRole("button", { name: "Cancel job" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    expect(stage.coordinator.cancelled).toEqual([]);
    await page.getByRole("button", { name: "Cancel job" }).click();
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await page.getByLabel("Token", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Use this token" }).click();
    await page.getByText("The coordinator did not accept that token.").waitFor();
    await page.getByLabel("Token", { exact: true }).fill(userToken);
    await page.getByRole("button", { name: "Use this token" }).click();
    await page.locator(".page-header .badge.state-cancelled").waitFor();
    expect(stage.coordinator.cancelled).toEqual([stage.quickstart]);
    expect(
      await page.evaluate(() => [
        sessionStorage.getItem("podium.token"),
        localStorage.getItem("podium.token"),
      ]),
    ).toEqual([userToken, null]);
    expect(await page.getByRole("button", { name: "Cancel job" }).count()).toBe(0);
  });
});

describe("what its curve foretells", () => {
  it("is a sentence, and a fan in the chart of the target's metric that the legend hides", async () => {
    const page = await stage.open(`#/jobs/${stage.quickstart}?table=target`);
    await page
      .getByText(/^The job should reach its target in .*; 8 of 10 times .*The odds that it does so before/)
      .waitFor();
    const chart = page.getByRole("region", { name: "Target", exact: true });
    const beyond = chart.getByRole("cell", { name: /^2,000$/ });
    await beyond.waitFor();
    await chart.getByRole("button", { name: /^projection, 8 of 10/ }).click();
    await page.waitForFunction(() => location.hash.includes("flip=projection"));
    expect(await chart.getByRole("columnheader", { name: /projection/ }).count()).toBe(0);
  });

  it("says that it cannot say yet, and why", async () => {
    const job = stage.coordinator.cluster.jobs.get(stage.quickstart)!;
    stage.coordinator.putJobUnseen({
      ...job,
      ...{ attempt: 1, restarts: 0, progress: { ...job.progress!, step: 150 } },
    });
    const page = await stage.open(`#/jobs/${stage.quickstart}`);
    await page
      .getByText("It is not known yet when the job reaches its target: its curve has 3 points; 6 are needed.")
      .waitFor();
  });

  it("is nothing of a job that has ended", async () => {
    const ended = [...stage.coordinator.cluster.jobs.values()].find(
      ({ state, target }) => state === "succeeded" && target !== null,
    )!;
    const page = await stage.open(`#/jobs/${ended.id}`);
    await page.locator(".stats").waitFor();
    expect(await page.locator(".projection").count()).toBe(0);
  });
});

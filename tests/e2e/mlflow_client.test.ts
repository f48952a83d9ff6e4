// A tracking client that others wrote (npm's `mlflow`) logs into the real coordinator, and the dashboard shows its run.
import MLflow from "mlflow";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Browser } from "playwright-core";
import { launch, openPage } from "./support/browser";
import { whyNotReal } from "./support/daemon";
import { RealCluster, realUserToken } from "./support/real_cluster";

const ignored = whyNotReal();

describe.skipIf(ignored !== "")("npm's client of MLflow", () => {
  let cluster: RealCluster;
  let browser: Browser;
  let client: MLflow;

  beforeAll(async () => {
    vi.spyOn(console, "log").mockImplementation(() => undefined); // the client prints what it sends
    cluster = await RealCluster.start();
    browser = await launch();
    client = new MLflow({ endpoint: cluster.url, headers: { Authorization: `Bearer ${realUserToken}` } });
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await cluster.stop();
    vi.restoreAllMocks();
  });

  const tagsOf = (tags: { key: string; value: string }[]) =>
    Object.fromEntries(tags.map(({ key, value }) => [key, value]));

  async function logRun(experiment_id: string) {
    const { Runs } = client;
    const started = Date.now();
    const { run } = await Runs.create({ experiment_id, user_id: "mei", start_time: started });
    const { run_id } = run.info;
    for (let step = 0; step < 20; step += 1)
      await Runs.logMetric({
        run_id,
        key: "train/loss",
        value: 2 / (step + 1),
        timestamp: started + step,
        step,
      });
    await Runs.logParameter({ run_id, key: "lr", value: "0.001" });
    await Runs.setTag({ run_id, key: "stage", value: "dev" });
    await Runs.setTag({ run_id, key: "gone", value: "soon" });
    await Runs.deleteTag({ run_id, key: "gone" });
    await Runs.logBatch({
      run_id,
      metrics: [{ key: "eval/f1", value: 0.5, timestamp: started, step: 20 }],
      params: [{ key: "layers", value: "2" }],
      tags: [{ key: "batch", value: "yes" }],
    });
    return run_id;
  }

  it("logs, searches, updates, deletes and restores a run, and its page shows it", async () => {
    const { Experiments, Runs, Metrics, Artifacts } = client;
    const { experiment_id } = await Experiments.create({ name: "from npm", artifact_location: "" });
    const run_id = await logRun(experiment_id);

    const { run } = await Runs.get({ run_id });
    expect(run.info.status).toBe("RUNNING");
    expect(run.data.params).toEqual([
      { key: "layers", value: "2" },
      { key: "lr", value: "0.001" },
    ]);
    expect(tagsOf(run.data.tags)).toMatchObject({ stage: "dev", batch: "yes" });
    expect(tagsOf(run.data.tags)).not.toHaveProperty("gone");
    const { metrics } = await Metrics.getHistory({ run_id, metric_key: "train/loss" });
    expect(metrics.map(({ value }) => value)).toEqual([...Array(20).keys()].map((step) => 2 / (step + 1)));

    const filter = "metrics.`eval/f1` >= 0.5 and params.lr = '0.001' and tags.stage = 'dev'";
    const found = await Runs.search({ experiment_ids: [experiment_id], filter });
    expect(found.runs.map(({ info }) => info.run_id)).toEqual([run_id]);

    const address = `${cluster.url}/api/2.0/mlflow-artifacts/artifacts/${experiment_id}/${run_id}/artifacts/notes.md`;
    const headers = { Authorization: `Bearer ${realUserToken}` };
    expect((await fetch(address, { method: "PUT", headers, body: "# notes" })).status).toBe(200);
    const { files } = (await Artifacts.list({ run_id, path: "" })) as unknown as { files: unknown[] };
    expect(files).toEqual([{ path: "notes.md", is_dir: false, file_size: 7 }]);

    const { page, errors } = await openPage(browser);
    await page.goto(`${cluster.url}/#/experiments/${experiment_id}/runs/${run_id}`);
    await page.getByText("notes.md").waitFor();
    await page.getByRole("region", { name: "Loss", exact: true }).locator("canvas").waitFor();
    const texts = (await page.locator(".run-texts tr").allTextContents()).join(" ");
    for (const part of ["lr0.001", "layers2", "stagedev"]) expect(texts).toContain(part);
    expect(errors).toEqual([]);
    await page.close();

    await Runs.update({ run_id, status: "FINISHED", end_time: Date.now() } as Parameters<
      typeof Runs.update
    >[0]);
    await Runs.delete({ run_id });
    expect((await Runs.search({ experiment_ids: [experiment_id] })).runs ?? []).toEqual([]);
    await Runs.restore({ run_id });
    expect((await Runs.get({ run_id })).run.info.status).toBe("FINISHED");
    await expect(Runs.get({ run_id: "f".repeat(32) })).rejects.toThrow(/RESOURCE_DOES_NOT_EXIST/);
  }, 60_000);
});

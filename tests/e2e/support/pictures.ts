// Takes the pictures of README.md and docs/pages.md from a cluster that it starts and that really trains: two agents of one
// CPU slot each on this machine. `PODIUM_BIN_DIR=… npm run pictures -- [FOLDER]` takes some minutes and leaves nothing
// behind.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { launch, openPage } from "./browser";
import { whyNotReal } from "./daemon";
import { RealCluster, realUserToken } from "./real_cluster";

const docs = new URL("../../../docs/", import.meta.url).pathname;
const folder = process.argv[2] ?? docs;

interface Wishes {
  name: string;
  steps: number;
  devices: number;
  lr: string;
  rest: string;
}

const spec = ({ name, steps, devices, lr, rest }: Wishes) => `version: 1
name: ${name}
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: ${lr}}
  schedule: {steps: ${steps}, warmup: 10, decay: linear}
  batch: {global: 32, micro: 16}
  sequence_length: 32
  log_every: 10 steps
resources: {devices: ${devices}, per_node: 1, kind: cpu, walltime: 1h}
checkpoint: {every: 100 steps, keep: 2}
evaluate: {every: 25 steps, data: heldout.txt, sequences: 64}
${rest}
`;

const target = "target: {metric: eval/gain_over_unigram, at_least: 0.5}";
const slow = { name: "bert-toy", steps: 3000, devices: 2, lr: "1.0e-3", rest: target };
const fast = { ...slow, lr: "2.0e-3" };
const scaled = {
  ...{ name: "bert-toy-scaling", steps: 300, devices: 1, lr: "2.0e-3" },
  rest: "scaling: {devices: [1, 2], mode: strong, repeat: 2, together: false}",
};
const swept = {
  ...{ name: "bert-toy-sweep", steps: 400, devices: 1, lr: "1.0e-3" },
  rest: `sweep:
  trials: 6
  seed: 1
  training.optimizer.lr: {from: 1.0e-4, to: 2.0e-2, scale: log}
  asha: {metric: eval/mlm_loss, min_steps: 50, reduction: 2}`,
};

interface Listed {
  jobs: { id: number; experiment: number; state: string; reason: string }[];
}

const why = whyNotReal();
if (why) throw new Error(`no pictures: ${why}`);
const cluster = await RealCluster.start();
const read = async <Answer>(path: string) =>
  (await (await fetch(`${cluster.url}/api/v1/${path}`)).json()) as Answer;

/** Waits until no job waits or runs. */
async function untilDone(): Promise<void> {
  for (;;) {
    const { jobs } = await read<Listed>("jobs?limit=1000");
    const failed = jobs.find(({ state }) => state === "failed");
    if (failed) throw new Error(`job ${failed.id} failed: ${failed.reason}`);
    if (jobs.every(({ state }) => ["succeeded", "stopped"].includes(state))) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function trained(wishes: Wishes): Promise<number> {
  const job = await cluster.submit(spec(wishes));
  await untilDone();
  return job;
}

async function reproduced(job: number): Promise<number> {
  const response = await fetch(`${cluster.url}/api/v1/jobs/${job}/reproduce`, {
    method: "POST",
    headers: { Authorization: `Bearer ${realUserToken}` },
  });
  const made = ((await response.json()) as { job: { id: number } }).job.id;
  await untilDone();
  return made;
}

async function take(page: Page, name: string, hash: string, ready: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 1010 });
  await page.goto(`${cluster.url}/${hash}`);
  await page.locator(ready).first().waitFor();
  const height = await page.evaluate(() => 60 + (document.querySelector(".page")?.scrollHeight ?? 950));
  await page.setViewportSize({ width: 1280, height: Math.min(1800, Math.max(600, height)) });
  for (const chart of await page.locator(".chart[role=img]").all())
    await chart.locator("canvas").waitFor({ timeout: 10_000 });
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.log(`took ${name}`);
}

try {
  await mkdir(join(folder, "pages"), { recursive: true });
  const first = await trained(slow);
  const record = await trained(fast);
  const again = await reproduced(record);
  const sweep = await trained(swept);
  const study = await trained(scaled);
  const studyOf = async (job: number) => (await read<Listed["jobs"][number]>(`jobs/${job}`)).experiment;
  const running = await cluster.submit(spec({ ...slow, name: "bert-toy-long", steps: 100_000, rest: "" }));
  const browser = await launch();
  const { page, errors } = await openPage(browser, { colorScheme: "light" });
  await take(page, "dashboard", `#/jobs/${record}`, ".log-text");
  await take(page, "pages/reproduced", `#/jobs/${again}?tab=ledger`, ".reproduction");
  await take(page, "pages/board", "#/board", ".board-all td");
  await take(page, "pages/sweep", `#/studies/${await studyOf(sweep)}`, ".study-trials td");
  await take(page, "pages/study", `#/studies/${await studyOf(study)}`, ".study-sizes td");
  await take(page, "pages/compare", `#/compare?jobs=${first},${record}`, ".compare-table td");
  await take(page, "pages/overview", "#/overview", `a.map-piece[href="#/jobs/${running}"]`);
  await browser.close();
  if (errors.length > 0) throw new Error(errors.join("\n"));
} catch (error) {
  console.error(await cluster.logs());
  throw error;
} finally {
  await cluster.stop();
}

// Measures what it costs a page to watch a training: `npm run hour -- [minutes]`. Two reports a second, each with a point on
// six curves and the job, for an hour of the page's clock. The clock advances once the page has drawn: a quarter of a second
// at a time, with a frame after each, so that the page draws as often as in an hour. Everything that follows the page's
// clock (ages, the end of the log, the detail, the history) happens as often as in an hour.
import { setTimeout as pause } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import type { LivePoint } from "../../../web/src/api/types";
import { makeCluster } from "../fake/cluster";
import { addQuickstart } from "../fake/quickstart";
import { FakeCoordinator } from "../fake/server";
import { launch, openPage } from "./browser";

const minutes = Number(process.argv[2] ?? 60);
const id = 201;
const reportsASecond = 2;
const stepsAReport = 10;
const keys = [
  "train/loss",
  "train/mlm_loss",
  "train/nsp_loss",
  "train/learning_rate",
  "train/grad_norm",
  "train/sequences_per_second",
];

declare global {
  interface Window {
    /** The reports that have arrived, and a frame drawn by the real clock. */
    measured: { reports: number; frame(): Promise<void> };
  }
}

/** Taken before the page's clock is replaced. */
function watchPage(): void {
  const [frame, later] = [requestAnimationFrame.bind(window), setTimeout.bind(window)];
  window.measured = {
    reports: 0,
    frame: () => new Promise((resolve) => frame(() => later(resolve))),
  };
  const read = ReadableStreamDefaultReader.prototype.read;
  const name = "event: metrics";
  const decoder = new TextDecoder();
  let rest = "";
  ReadableStreamDefaultReader.prototype.read = async function (this: ReadableStreamDefaultReader) {
    const chunk = await read.call(this);
    if (!(chunk.value instanceof Uint8Array)) return chunk;
    const text = rest + decoder.decode(chunk.value);
    window.measured.reports += text.split(name).length - 1;
    rest = text.slice(Math.max(text.lastIndexOf(name) + 1, text.length - name.length + 1));
    return chunk;
  } as typeof read;
}

function makeTraining(): FakeCoordinator {
  const cluster = makeCluster(200, 20, Date.now());
  addQuickstart(cluster, id, Date.now());
  const job = cluster.jobs.get(id)!;
  const startedMs = Date.now() - 4 * 3_600_000;
  cluster.jobs.set(id, {
    ...job,
    ...{ submitted_ms: startedMs, started_ms: startedMs, running_since_ms: startedMs },
    progress: { step: 40_000, steps: 400_000, updated_ms: Date.now() },
  });
  return new FakeCoordinator(cluster);
}

function report(coordinator: FakeCoordinator, timeMs: number): void {
  const job = coordinator.cluster.jobs.get(id)!;
  const step = job.progress!.step + stepsAReport;
  const points: LivePoint[] = keys.map((key, index) => ({
    ...{ key, step, time_ms: timeMs },
    value: 2 + index + Math.sin(step / 500) + Math.random() * 0.2,
  }));
  coordinator.live.push("metrics", { job: id, points });
  const latest = Object.fromEntries(points.map(({ key, value }) => [key, value]));
  coordinator.putJob({
    ...job,
    progress: { ...job.progress!, step, updated_ms: timeMs },
    latest: { ...job.latest, ...latest },
  });
  coordinator.logLines += 1;
}

class Meter {
  constructor(private readonly session: CDPSession) {}

  async read(): Promise<{ taskMs: number; scriptMs: number; layoutMs: number }> {
    const { metrics } = await this.session.send("Performance.getMetrics");
    const ms = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? 0) * 1000;
    return {
      taskMs: ms("TaskDuration"),
      scriptMs: ms("ScriptDuration"),
      layoutMs: ms("LayoutDuration") + ms("RecalcStyleDuration"),
    };
  }

  async heapMb(): Promise<number> {
    await this.session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await this.session.send("Runtime.getHeapUsage");
    return usedSize / 1e6;
  }
}

const drawn = (page: Page) => page.evaluate(() => window.measured.frame());

/** Advances the page's clock by a second; `onHalf` is called twice in it. */
async function liveSecond(page: Page, onHalf: () => Promise<void>): Promise<void> {
  for (let quarter = 0; quarter < 4; quarter += 1) {
    if ((quarter * reportsASecond) % 4 === 0) await onHalf();
    await page.clock.runFor(250);
    await drawn(page);
  }
}

const coordinator = makeTraining();
await coordinator.start();
const browser = await launch();
const { page, errors } = await openPage(browser);
page.setDefaultTimeout(600_000);
await page.addInitScript(watchPage);
const beganMs = Date.now();
await page.clock.install({ time: beganMs });
await page.goto(`${coordinator.url}/#/jobs/${id}`);
await page.locator(".u-over").first().waitFor();
await page.locator(".connection-word").filter({ hasText: "Live" }).waitFor();
await page.clock.pauseAt(beganMs + 60_000);
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const meter = new Meter(session);

let nowMs = beganMs + 60_000;
let sent = 0;
/** A page that hears nothing for long opens the stream again, by its clock. */
async function hearing(): Promise<void> {
  while (coordinator.live.connections === 0) {
    await page.clock.runFor(250);
    await pause(20);
  }
}

const sendReport = async () => {
  report(coordinator, nowMs);
  nowMs += 1000 / reportsASecond;
  sent += 1;
  // Polled from here, because the page's own timers stand still.
  while ((await page.evaluate(() => window.measured.reports)) < sent) await pause(2);
};

async function minute(what: string, onHalf: () => Promise<void>): Promise<void> {
  await hearing();
  const before = await meter.read();
  for (let second = 0; second < 60; second += 1) await liveSecond(page, onHalf);
  const after = await meter.read();
  const [task, script, layout] = (["taskMs", "scriptMs", "layoutMs"] as const).map((name) =>
    ((after[name] - before[name]) / 60).toFixed(1),
  );
  const heap = (await meter.heapMb()).toFixed(1);
  console.log(`${what}: ${task} ms a second (script ${script}, style and layout ${layout}), heap ${heap} MB`);
}

await minute("without points", async () => undefined);
for (let turn = 1; turn <= minutes; turn += 1) await minute(`minute ${turn}`, sendReport);
const shown = await page.locator(".stat-value").first().textContent();
console.log(`${sent} reports; the page says ${shown}`);
if (errors.length > 0) console.error(errors);
await browser.close();
await coordinator.stop();

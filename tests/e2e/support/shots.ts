// Screenshots of every page in both themes and two widths: `npm run shots -- FOLDER`. For people to look at.
import { mkdir } from "node:fs/promises";
import { makeCluster } from "../fake/cluster";
import { addQuickstart } from "../fake/quickstart";
import { FakeCoordinator } from "../fake/server";
import { launch, openPage } from "./browser";

const folder = process.argv[2] ?? "shots";
const wanted = process.argv[3] ?? "";
await mkdir(folder, { recursive: true });
const cluster = makeCluster(10_000, 20, Date.now());
addQuickstart(cluster, 10_001, Date.now());
const coordinator = new FakeCoordinator(cluster);
await coordinator.start();

const pages: [name: string, hash: string][] = [
  ["jobs", "#/jobs"],
  ["job", "#/jobs/10001"],
  ["job-why", "#/jobs/10000"],
  ["job-history", "#/jobs/10001?x=time&tab=spec&smooth=0.8"],
  ["queue", "#/queue"],
  ["accounts", "#/accounts"],
  ["nodes", "#/nodes"],
  ["nodes-lines", "#/nodes?view=lines"],
  ["experiments", "#/experiments"],
  ["experiment", "#/experiments/9000"],
  ["submit", "#/submit"],
];
const browser = await launch();
for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    const { page, errors } = await openPage(browser, {
      colorScheme,
      viewport: { width, height: width === 390 ? 844 : 900 },
    });
    for (const [name, hash] of pages.filter(([each]) => each.startsWith(wanted))) {
      await page.goto(`${coordinator.url}/${hash}`);
      await page.waitForTimeout(1500);
      if (name === "job" || name === "job-history") {
        const height = await page.evaluate(() => 60 + (document.querySelector(".page")?.scrollHeight ?? 900));
        await page.setViewportSize({ width, height });
        await page.waitForTimeout(300);
      }
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    }
    if (errors.length > 0) console.error(errors);
    await page.context().close();
  }
}
await browser.close();
await coordinator.stop();

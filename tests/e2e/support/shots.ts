// Takes screenshots of every page in both themes and four widths for people to look at: `npm run shots -- FOLDER
// [HOW_NAMES_BEGIN]`.
import { mkdir } from "node:fs/promises";
import { makeCluster } from "../fake/cluster";
import { addQuickstart } from "../fake/quickstart";
import { FakeCoordinator } from "../fake/server";
import { addStudies } from "../fake/studies";
import { launch, openPage } from "./browser";
import { samples } from "./pages";

const folder = process.argv[2] ?? "shots";
const wanted = process.argv[3] ?? "";
await mkdir(folder, { recursive: true });
const jobs = 2000;
const cluster = makeCluster(jobs, 20, Date.now());
addQuickstart(cluster, jobs + 1, Date.now());
addStudies(cluster, jobs + 2, Date.now());
const coordinator = new FakeCoordinator(cluster);
await coordinator.start();

const pages = samples(jobs + 1).map((sample) => ({ ...sample, name: sample.name.replaceAll(" ", "-") }));
const browser = await launch();
for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 768, 390, 320]) {
    const { page, errors } = await openPage(browser, { colorScheme, viewport: { width, height: 900 } });
    for (const { name, hash, ready } of pages.filter((each) => each.name.startsWith(wanted))) {
      await page.goto(`${coordinator.url}/${hash}`);
      await page.locator(ready).first().waitFor();
      await page.waitForTimeout(500);
      const height = await page.evaluate(() => 60 + (document.querySelector(".page")?.scrollHeight ?? 840));
      await page.setViewportSize({ width, height: Math.max(900, height) });
      await page.waitForTimeout(300);
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
      await page.setViewportSize({ width, height: 900 });
    }
    if (errors.length > 0) console.error(errors);
    await page.context().close();
  }
}
await browser.close();
await coordinator.stop();

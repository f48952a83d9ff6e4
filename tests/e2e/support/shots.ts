// Screenshots of every page in both themes and four widths: `npm run shots -- FOLDER`. For people to look at.
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
const cluster = makeCluster(10_000, 20, Date.now());
addQuickstart(cluster, 10_001, Date.now());
addStudies(cluster, 10_002, Date.now());
const coordinator = new FakeCoordinator(cluster);
await coordinator.start();

const pages = samples(10_001).map(({ name, hash }) => ({ name: name.replaceAll(" ", "-"), hash }));
const browser = await launch();
for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 768, 390, 320]) {
    const { page, errors } = await openPage(browser, { colorScheme, viewport: { width, height: 900 } });
    for (const { name, hash } of pages.filter((each) => each.name.startsWith(wanted))) {
      await page.goto(`${coordinator.url}/${hash}`);
      await page.waitForTimeout(1500);
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

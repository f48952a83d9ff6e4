// The picture that README.md shows, of a job that has really trained: `./deploy/quickstart`, then
// `npm run picture -- [FILE] [JOB] [URL]`.
import { launch, openPage } from "./browser";

const [file = "../../docs/dashboard.png", job = "1", url = "http://127.0.0.1:7070"] = process.argv.slice(2);
const browser = await launch();
const { page, errors } = await openPage(browser, {
  colorScheme: "light",
  viewport: { width: 1280, height: 1010 },
});
await page.goto(`${url}/#/jobs/${job}`);
await page.locator(".log-text", { hasText: /\S/ }).waitFor();
await page.locator(".chart").first().waitFor();
for (const chart of await page.locator(".chart").all()) await chart.locator("canvas").waitFor();
await page.screenshot({ path: file });
await browser.close();
if (errors.length > 0) throw new Error(errors.join("\n"));

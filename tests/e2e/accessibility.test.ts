// axe-core finds nothing to complain about on any page, in either theme, wide or narrow.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { useStage } from "./support/stage";

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const stage = useStage(200);

const pages: [name: string, hash: string, ready: string][] = [
  ["jobs", "#/jobs", ".job-rows .job-row"],
  ["one job with its log", "#/jobs/201", ".log-text"],
  ["one job with its tasks", "#/jobs/201?tab=tasks&x=time", ".table"],
  ["one job with its spec", "#/jobs/201?tab=spec", ".spec .code"],
  ["one job with its history", "#/jobs/201?tab=history&smooth=0.6", ".history li"],
  ["a job that waits", "#/jobs/198", ".why-sooner"],
  ["a job that is not there", "#/jobs/999999", ".notice"],
  ["a job that is held", "#/jobs/197", ".badge.held"],
  ["the queue", "#/queue", ".queue tbody tr"],
  ["accounts", "#/accounts", ".accounts tbody tr"],
  ["nodes", "#/nodes", ".node"],
  ["nodes as lines", "#/nodes?view=lines", ".node"],
  ["experiments", "#/experiments", ".table"],
  ["one experiment", "#/experiments/9000", ".job-rows .job-row"],
  ["submit", "#/submit", ".cm-content"],
  ["an unknown page", "#/nowhere", ".notice"],
];

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

async function violations(page: Page): Promise<string[]> {
  // Through the debugger, not a script element: the content security policy stays as it is.
  await page.evaluate(axeSource);
  const found = (await page.evaluate(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then((r) => r.violations)",
  )) as Violation[];
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 360]) {
    describe(`${colorScheme}, ${width} px`, () => {
      it.each(pages)("%s", async (_name, hash, ready) => {
        const page = await stage.open(hash, { colorScheme, viewport: { width, height: 900 } });
        await page.locator(ready).first().waitFor();
        expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe(colorScheme);
        expect(await violations(page)).toEqual([]);
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
          "no sideways scrolling",
        ).toBe(true);
      });
    });
  }
}

it("the dialogs", async () => {
  const page = await stage.open("#/jobs/201");
  await page.getByRole("button", { name: "Keyboard help" }).click();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Cancel job" }).click();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByLabel("Token", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
});

it("the dialogs of operators", async () => {
  const page = await stage.open("#/jobs/201");
  await page.getByRole("button", { name: "Priority…" }).click();
  expect(await violations(page)).toEqual([]);
  await page.goto(`${stage.coordinator.url}/#/accounts`);
  await page.getByRole("button", { name: "Change nlp", exact: true }).click();
  expect(await violations(page)).toEqual([]);
  for (const name of ["Drain node-1", "Reserve node-1", "Labels of node-1"]) {
    await page.goto(`${stage.coordinator.url}/#/nodes`);
    await page.getByRole("button", { name, exact: true }).click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
  }
});

it("the banner while the coordinator is away", async () => {
  const page = await stage.open("#/jobs");
  await page.locator(".job-rows .job-row").first().waitFor();
  await stage.coordinator.stop();
  await page.locator(".banner").waitFor();
  expect(await violations(page)).toEqual([]);
});

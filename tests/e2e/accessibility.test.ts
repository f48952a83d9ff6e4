// axe-core finds nothing to complain about on any page, in either theme, wide or narrow.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { routes } from "../../web/src/routes";
import { samples } from "./support/pages";
import { useStage } from "./support/stage";

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const stage = useStage(200, 20, { studies: true });

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

const everyRule = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
/** All that a theme decides. */
const themeRules = ["color-contrast"];

async function violations(page: Page, rules: readonly string[] = everyRule): Promise<string[]> {
  // Through the debugger, not a script element: the content security policy stays as it is.
  await page.evaluate(axeSource);
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then((r) => r.violations)`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}

it("looks at every page of the table of routes", () => {
  expect(new Set(samples(201).map(({ route }) => route))).toEqual(
    new Set([...routes.map(({ path }) => path), ""]),
  );
});

describe.each(samples(201))("$name", ({ hash, ready }) => {
  it("in either theme, wide and narrow", async () => {
    const page = await stage.open(hash);
    for (const width of [1440, 768, 320]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(ready).first().waitFor();
        await page.waitForFunction(
          (theme) => document.documentElement.dataset["theme"] === theme,
          colorScheme,
        );
        const rules = colorScheme === "light" ? everyRule : themeRules;
        expect(await violations(page, rules), `${colorScheme}, ${width} px`).toEqual([]);
      }
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        `no sideways scrolling at ${width} px`,
      ).toBe(true);
    }
  });
});

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
  await page.locator(".data-rows .data-row").first().waitFor();
  await stage.coordinator.stop();
  await page.locator(".banner").waitFor();
  expect(await violations(page)).toEqual([]);
});

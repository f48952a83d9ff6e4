// Runs axe-core on pages, in either theme, wide and narrow, and finds what is cut off or out of sight there.
// accessibility_*.test.ts divide the pages among them, because each takes seconds.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { samples, type Sample } from "./pages";
import { useStage } from "./stage";

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string; any: { data?: { messageKey?: string } | null }[] }[];
}

const everyRule = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
/** The rules that depend on the theme. */
const themeRules = ["color-contrast"];

export async function violations(page: Page, rules: readonly string[] = everyRule): Promise<string[]> {
  // Through the debugger instead of a script element, so that the content security policy applies unchanged.
  await page.evaluate(axeSource);
  const found = await page.evaluate<{ violations: Violation[]; incomplete: Violation[] }>(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations, incomplete }) => ({ violations, incomplete }))`,
  );
  // Text in the colour of its background is no violation for axe-core, which takes it as hidden on purpose.
  const unseen = found.incomplete.map(({ id, nodes }) => ({
    id,
    nodes: nodes.filter(({ any }) => any.some(({ data }) => data?.messageKey === "equalRatio")),
  }));
  return [...found.violations, ...unseen].flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}

export const isOfOneJob = ({ route }: Sample) => route === "jobs/:id";
export const isOfComparison = ({ route }: Sample) => route === "compare";
export const isOfStudies = ({ route }: Sample) => route.startsWith("studies");

/** Checks these pages, each in its own test. */
export function looksAt(isMeant: (sample: Sample) => boolean): void {
  const stage = useStage(200, 20, { studies: true });
  describe.each(samples(stage.quickstart).filter(isMeant))("$name", ({ hash, ready }) => {
    it("in either theme, wide and narrow", async () => {
      const page = await stage.open(hash);
      for (const width of [1440, 768, 320]) {
        await expectAccessible(page, width, ready);
        await expectWhole(page, width);
      }
      await expectWhole(page, 390);
    });
  });
}

async function expectAccessible(page: Page, width: number, ready: string): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(ready).first().waitFor();
    await page.waitForFunction((theme) => document.documentElement.dataset["theme"] === theme, colorScheme);
    const rules = colorScheme === "light" ? everyRule : themeRules;
    expect(await violations(page, rules), `${colorScheme}, ${width} px`).toEqual([]);
  }
}

async function expectWhole(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    `no sideways scrolling at ${width} px`,
  ).toBe(true);
  await expect.poll(() => page.evaluate(cutTexts), { message: `nothing cut off at ${width} px` }).toEqual([]);
}

/** Titles, buttons and rows that are cut, and what else is cut without an ellipsis, at its side or its foot. */
function cutTexts(): string[] {
  const isSeen = (element: Element) =>
    element.checkVisibility() &&
    element.clientWidth > 1 &&
    getComputedStyle(element.closest("thead, .visually-hidden") ?? element).clipPath === "none";
  const overflows = (element: Element) => element.scrollWidth > element.clientWidth + 1;
  const isTooTall = (element: Element) => {
    const { overflowY, webkitLineClamp } = getComputedStyle(element);
    const isCut =
      element.matches(".data-row") || (/hidden|clip/.test(overflowY) && webkitLineClamp === "none");
    return isCut && element.scrollHeight > element.clientHeight + 3;
  };
  const isWhole = (element: Element) =>
    element.matches("th, [role=columnheader], .data-row, button, .button, .chip");
  const isMarked = (element: Element, style: CSSStyleDeclaration) =>
    style.textOverflow === "ellipsis" &&
    !/flex|grid/.test(style.display) &&
    [...element.children].every((child) => !/flex|grid/.test(getComputedStyle(child).display));
  return [...document.querySelectorAll("body *")]
    .filter((element) => {
      if (!isSeen(element) || element.textContent.trim() === "") return false;
      if (isTooTall(element)) return true;
      if (!overflows(element)) return false;
      if (isWhole(element)) return true;
      const style = getComputedStyle(element);
      return /hidden|clip/.test(style.overflowX) && !isMarked(element, style);
    })
    .map((element) => `${element.tagName} ${element.className}: ${element.textContent.slice(0, 60)}`);
}

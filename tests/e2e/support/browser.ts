// Debian's Chromium, headless, without any of its background traffic. Every page fails its test on a script error, a
// console error or a breach of the content security policy.
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["PODIUM_CHROMIUM"] ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Watched {
  page: Page;
  /** Everything that went wrong in the page, network failures left out: tests take the server down on purpose. */
  errors: string[];
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  return watch(await context.newPage());
}

export function watch(page: Page): Watched {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(`script: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) errors.push(text);
  });
  return { page, errors };
}

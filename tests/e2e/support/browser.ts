// Debian's Chromium, headless, without its background traffic. A script error, a console error or a breach of the content
// security policy fails the test of a page.
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
  /** All errors in the page except network failures: tests stop the server on purpose. */
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

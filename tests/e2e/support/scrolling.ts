// What scrolling the jobs table costs, as the browser reports it (Performance.getMetrics), frame by frame.
import type { Page } from "playwright-core";

export interface ScrollCost {
  frames: number;
  scriptMs: number;
  layoutMs: number;
  frame95Ms: number;
  longestMs: number;
  blankFrames: number;
  /** Frames in which the row in the middle was not loaded yet. */
  shapeFrames: number;
}

export async function measureScrolling(page: Page, frames: number, pixels: number): Promise<ScrollCost> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const read = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? 0) * 1000;
  };
  const before = await read();
  const { times, blank, shapes } = await page.evaluate(scrollThrough, [frames, pixels] as [number, number]);
  const after = await read();
  const took = (name: string) => (after(name) - before(name)) / frames;
  const sorted = [...times].sort((a, b) => a - b);
  return {
    frames,
    scriptMs: took("ScriptDuration"),
    layoutMs: took("LayoutDuration") + took("RecalcStyleDuration"),
    frame95Ms: sorted[Math.floor(sorted.length * 0.95)]!,
    longestMs: sorted.at(-1)!,
    blankFrames: blank,
    shapeFrames: shapes,
  };
}

/** Runs in the page: scrolls down the table from its top, so many pixels a frame. */
async function scrollThrough([frames, pixels]: [number, number]): Promise<{
  times: number[];
  blank: number;
  shapes: number;
}> {
  const table = document.querySelector(".data-table")!;
  const middle = table.getBoundingClientRect();
  const times: number[] = [];
  let [blank, shapes] = [0, 0];
  let last = performance.now();
  for (let frame = 1; frame <= frames; frame += 1) {
    table.scrollTop = frame * pixels;
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    const hit = document.elementFromPoint(middle.left + 100, middle.top + middle.height / 2);
    if (hit?.closest(".data-shape")) shapes += 1;
    else if (!hit?.closest(".data-rows .data-row")) blank += 1;
    times.push(performance.now() - last);
    last = performance.now();
  }
  return { times, blank, shapes };
}

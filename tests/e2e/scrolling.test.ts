// What it costs to scroll through 10,000 jobs while they change.
import { expect, it } from "vitest";
import { measureScrolling } from "./support/scrolling";
import { rows, useStage } from "./support/stage";

const stage = useStage(9999);

it("scrolls through 10,000 jobs while 200 updates a second arrive", async () => {
  const page = await stage.open("#/jobs");
  await page.getByText("10,000 jobs", { exact: false }).waitFor();
  const running = [...stage.coordinator.cluster.jobs.values()].filter(({ state }) => state === "running");
  let turn = 0;
  const timer = setInterval(() => {
    for (let count = 0; count < 10; count += 1) {
      const job = running[turn++ % running.length]!;
      stage.coordinator.putJob({ ...job, latest: { ...job.latest, "train/loss": Math.random() } });
    }
  }, 50);
  try {
    for (const [how, pixels] of [
      ["at the pace of a wheel", 100],
      ["a screenful a frame", 1100],
    ] as const) {
      const cost = await measureScrolling(page, 150, pixels);
      console.log(
        `10,000 jobs, scrolled ${how}: ${cost.scriptMs.toFixed(2)} ms of script and ${cost.layoutMs.toFixed(2)} ms ` +
          `of style and layout a frame; 95% of frames took under ${cost.frame95Ms.toFixed(1)} ms, the longest ${cost.longestMs.toFixed(1)} ms; ` +
          `${cost.shapeFrames} of ${cost.frames} showed shapes`,
      );
      expect(cost.blankFrames, "frames that showed neither a row nor its shape").toBe(0);
    }
  } finally {
    clearInterval(timer);
  }
  expect(await rows(page).count()).toBeLessThan(60);
}, 300_000);

import { expect, it } from "vitest";
import type { JobEvent } from "../src/api/types";
import { layOut, spaced } from "../src/model/time_line";
import { attempt } from "./samples";

const first = attempt({ number: 1, created_ms: 0, started_ms: 10_000, ended_ms: 50_000, end: "failed" });
const second = attempt({ number: 2, created_ms: 60_000, started_ms: 65_000 });

it("lays attempts out from the first's creation to now, with the gap between them", () => {
  const line = layOut([first, second], [], 100_000)!;
  expect(line.bars.map(({ left, width, startingWidth }) => [left, width, startingWidth])).toEqual([
    [0, 0.5, 0.1],
    [0.6, 0.4, expect.closeTo(0.05, 9)],
  ]);
  expect(line.gapSeconds).toBe(10);
  expect(line.ticks.length).toBeGreaterThan(3);
});

it("places checkpoints by their time", () => {
  const events: JobEvent[] = [
    { id: 1, time_ms: 25_000, type: "checkpoint_saved", text: "", level: "info" },
    { id: 2, time_ms: 30_000, type: "attempt_ended", text: "", level: "info" },
  ];
  expect(layOut([first, second], events, 100_000)!.checkpoints).toEqual([{ left: 0.25, timeMs: 25_000 }]);
});

it("draws an attempt whose processes have not started as starting all the way", () => {
  const line = layOut([attempt({ created_ms: 0, started_ms: null })], [], 4000)!;
  expect(line.bars[0]).toMatchObject({ left: 0, width: 1, startingWidth: 1 });
});

it("is nothing before the first attempt", () => {
  expect(layOut([], [], 1)).toBeNull();
});

it("checkpoints that would merge into a bar are drawn apart, the newest among them", () => {
  const many = Array.from({ length: 1001 }, (_, index) => ({ left: index / 1000, timeMs: index }));
  const drawn = spaced(many);
  expect(drawn.length).toBeLessThan(130);
  expect(drawn.at(-1)!.left).toBe(1);
  expect(spaced(many.slice(0, 1))).toHaveLength(1);
});

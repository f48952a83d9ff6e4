// The coordinator's clock as its answers show it.
import { expect, it } from "vitest";
import { ServerClock } from "../src/api/server_clock";

it("takes the coordinator's clock from the dates of its answers, and its own where they agree", () => {
  const second = 1_700_000_000_000;
  const date = (ms: number) => new Date(ms).toUTCString();
  const clock = new ServerClock();
  clock.note(date(second), second + 300, second + 400);
  expect(clock.aheadMs).toBe(0);
  clock.note(null, 0, 0);
  expect(clock.aheadMs).toBe(0);
  const behind = new ServerClock();
  const ahead = 600_000;
  for (const at of [250, 700, 990]) behind.note(date(second), second + ahead + at - 10, second + ahead + at);
  expect(Math.abs(behind.aheadMs + ahead)).toBeLessThan(400);
  behind.note(date(second), second + 100, second + 110);
  expect(behind.aheadMs).toBe(0);
});

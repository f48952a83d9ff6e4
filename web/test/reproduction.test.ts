import { expect, it } from "vitest";
import { besideText, originalOf } from "../src/model/reproduction";
import { job } from "./samples";

const timed = (id: number, time_to_train_seconds: number | null, state = job().state) =>
  job({ id, time_to_train_seconds, state });

it("the original is told by a label; another value is none", () => {
  const of = (reproduces: string) => originalOf(job({ labels: { reproduces } }));
  expect([of("12"), of("x"), of("0"), of("1.5"), originalOf(job())]).toEqual([12, null, null, null, null]);
});

it("both times stand beside each other, with what changed", () => {
  expect(besideText(timed(12, 63), timed(57, 58))).toBe("1m 3s then, 58s now (−7.9 %)");
  expect(besideText(timed(12, 100), timed(57, 150))).toBe("1m 40s then, 2m 30s now (+50 %)");
});

it("where one has no time its state is told, and no change", () => {
  expect(besideText(timed(12, 63), timed(57, null, "running"))).toBe("1m 3s then, running now");
  expect(besideText(timed(12, null, "failed"), timed(57, 58))).toBe("failed then, 58s now");
});

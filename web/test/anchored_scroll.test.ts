import { expect, it } from "vitest";
import { anchoredScroll } from "../src/model/anchored_scroll";

const before = [5, 4, 3, 2, 1];
const scrolled = (after: number[], top: number) => anchoredScroll(before, after, (id) => id, top, 10);

it("follows the row that is being read when rows come in above it", () => {
  expect(scrolled([7, 6, ...before], 25)).toBe(45);
});

it("stays where it is at the very top, and when the row is gone", () => {
  expect(scrolled([6, ...before], 5)).toBe(5);
  expect(scrolled([5, 4, 2, 1], 25)).toBe(25);
});

it("stays where it is when nobody knows what was read, or what is there now", () => {
  const unknown = { length: 5, at: () => undefined, entries: () => [] };
  expect(anchoredScroll(unknown, before, (id: number) => id, 25, 10)).toBe(25);
  expect(anchoredScroll(before, unknown, (id) => id, 25, 10)).toBe(25);
});

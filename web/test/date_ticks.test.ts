import { expect, it } from "vitest";
import { dateTicks } from "../src/format/date_ticks";

const hour = 3_600_000;
const at = (text: string) => new Date(text).getTime();

it("ticks lie within the range, in order, and there are never more than asked for and one", () => {
  const from = at("2026-01-17T08:20:00");
  for (const span of [0.2, 1, 5, 30, 100, 159, 800, 5000, 40_000, 200_000])
    for (const most of [3, 7, 14]) {
      const ticks = dateTicks(from, from + span * hour, most);
      const places = ticks.map((tick) => tick.at);
      expect(ticks.length, `${span} hours`).toBeGreaterThan(0);
      expect(ticks.length, `${span} hours`).toBeLessThanOrEqual(most + 1);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(places[0]).toBeGreaterThanOrEqual(from);
      expect(places.at(-1)).toBeLessThanOrEqual(from + span * hour);
    }
});

it("they are whole hours, midnights or firsts of months, labelled as briefly", () => {
  const hours = dateTicks(at("2026-03-01T20:10:00"), at("2026-03-02T03:00:00"));
  expect(hours.map(({ label }) => label)).toEqual([
    "21:00",
    "22:00",
    "23:00",
    "Mar 2",
    "01:00",
    "02:00",
    "03:00",
  ]);
  const days = dateTicks(at("2026-03-01T20:10:00"), at("2026-03-06T03:00:00"), 5);
  expect(days.map(({ label }) => label)).toEqual(["Mar 2", "Mar 3", "Mar 4", "Mar 5", "Mar 6"]);
  const months = dateTicks(at("2025-12-15T00:00:00"), at("2026-05-02T00:00:00"), 5);
  expect(months.map(({ label }) => label)).toEqual([
    "Jan 2026",
    "Feb 2026",
    "Mar 2026",
    "Apr 2026",
    "May 2026",
  ]);
});

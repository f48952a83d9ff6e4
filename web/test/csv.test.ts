// The values of a chart as CSV.
import { expect, it } from "vitest";
import { align, type Line } from "../src/charts/line";
import { csvOf } from "../src/charts/csv";

const line = (id: string, xs: number[], ys: number[], more: Partial<Line> = {}): Line => ({
  ...{ id, label: id, colour: "--series-0", style: { kind: "line" } },
  ...{ xs, ys },
  ...more,
});

function csv(
  lines: Line[],
  hidden: string[] = [],
  range: { min: number; max: number } | null = null,
): string[] {
  const axes = {
    x: { title: "time", unit: "s", numbers: "plain" },
    y: { title: "loss", numbers: "plain" },
  } as const;
  const figure = { lines, references: [], marks: [], ...axes, logarithmic: false, hidden: new Set(hidden) };
  return csvOf(figure, align(lines), range).split("\r\n");
}

it("has a row for each x, every digit, and nothing where a line has no value", () => {
  const lines = [line("a", [1, 2], [0.1 + 0.2, NaN]), line("b", [2, 3], [1e-9, 4])];
  expect(csv(lines)).toEqual(["time (s),a,b", "1,0.30000000000000004,", "2,,1e-9", "3,,4", ""]);
});

it("leaves out what is hidden, what is drawn behind, and what the zoom has left out", () => {
  const lines = [
    line("a", [1, 2, 3], [1, 2, 3]),
    line("a as measured", [1, 2, 3], [1, 2, 3], { of: "a", style: { kind: "line", faint: true } }),
    line("b", [1, 2, 3], [4, 5, 6]),
  ];
  expect(csv(lines, ["b"], { min: 1.5, max: 3 })).toEqual(["time (s),a", "2,2", "3,3", ""]);
});

it("has both edges of a band, and quotes what a comma would break", () => {
  const band = line("p10, p90", [1], [9], { style: { kind: "band" }, lows: [2] });
  expect(csv([band])).toEqual(['time (s),"p10, p90, to","p10, p90, from"', "1,9,2", ""]);
});

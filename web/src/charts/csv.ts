// The values of a chart as CSV, with every digit.
import { shownColumns, titleOf, within, type Aligned, type Range } from "./line";
import type { Figure } from "./plot_options";

export function csvOf(figure: Figure, data: Aligned, range: Range | null): string {
  const columns = shownColumns(figure, data);
  const head = [titleOf(figure.x), ...columns.map(({ title }) => title)].map(quoted);
  const rows = within(data.xs, range).map((index) => [
    data.xs[index]!,
    ...columns.map(({ row }) => row[index] ?? ""),
  ]);
  return [head, ...rows].map((cells) => `${cells.join(",")}\r\n`).join("");
}

const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// A chart's values as a table: for the keyboard, for screen readers, and to copy from.
import { formatPlain } from "../format/numbers";
import { shownColumns, titleOf, valueText, within, type Aligned, type Axis, type Range } from "./line";
import type { Figure } from "./plot_options";

/** If there are more rows, they are thinned evenly. */
const mostRows = 200;

interface Properties {
  title: string;
  figure: Figure;
  data: Aligned;
  range: Range | null;
}

export function ChartTable({ title, figure, data, range }: Properties) {
  const columns = shownColumns(figure, data);
  const rows = within(data.xs, range);
  const shown = thinned(rows);
  return (
    <div class="chart-table scroll-x" tabIndex={0} role="region" aria-label={`${title} as a table`}>
      <table class="table">
        <thead>
          <tr>
            <th class="number">{titleOf(figure.x)}</th>
            {columns.map(({ id, title: name }) => (
              <th key={id} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((index) => (
            <tr key={index}>
              <td class="number">{placeOf(figure.x, data.xs[index]!)}</td>
              {columns.map(({ id, row }) => (
                <td key={id} class="number">
                  {textOf(figure.y, row[index])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <p class="muted panel-text">
          {shown.length} of {rows.length} rows. Zoom in to see the rows between them.
        </p>
      )}
    </div>
  );
}

const placeOf = (axis: Axis, x: number) =>
  axis.numbers === "plain" ? formatPlain(x, 12) : valueText(axis, x);

const textOf = (axis: Axis, value: number | null | undefined) =>
  value == null ? "" : valueText(axis, value);

/** The newest row comes first and is always among those shown. */
function thinned(rows: readonly number[]): number[] {
  const every = Math.ceil(rows.length / mostRows);
  return [...rows].reverse().filter((_, index) => index % every === 0);
}

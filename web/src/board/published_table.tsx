// Published results, in a table of their own that looks different from one's own runs. A row says what was measured, on
// what, and who says so.
import type { PublishedRow } from "../api/types";
import { formatPlain } from "../format/numbers";
import { publishedPlace, publishedTags, publishedValue } from "../model/study";
import { NumberHead, ScrollTable } from "../ui/scroll_table";

export function PublishedTable({ rows }: { rows: readonly PublishedRow[] }) {
  return (
    <section class="panel board-published" aria-label="Published">
      <header class="panel-head">
        <h2>Published elsewhere</h2>
        <span class="muted">
          measured on other hardware, with other code and rules; no row is a record here
          {rows.some((row) => publishedPlace(row, "samples")?.measure !== "time") &&
            "; the chart shows only times"}
        </span>
      </header>
      <ScrollTable name="Published as a table" looks="cards">
        <thead>
          <tr>
            <th scope="col">What</th>
            <NumberHead>Devices</NumberHead>
            <NumberHead>Figure</NumberHead>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <th scope="row">
                <span class="tag">published</span> {row.what}
                <span class="board-tags">
                  {publishedTags(row).map((tag) => (
                    <span key={tag} class="tag">
                      {tag}
                    </span>
                  ))}
                </span>
              </th>
              <td class="number" data-title="Devices">
                {formatPlain(row.devices, 9)}
              </td>
              <td class="number" data-title="Figure">
                {publishedValue(row)}
              </td>
              <td class="board-source" data-title="Source">
                {row.url === null ? (
                  row.source
                ) : (
                  <a href={row.url} rel="noreferrer noopener" target="_blank">
                    {row.source}
                  </a>
                )}
                {row.note && <span class="muted"> ({row.note})</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

// The records of a benchmark by class, the newest first, with how much each improved.
import type { BoardClass } from "../api/types";
import { formatDuration } from "../format/times";
import { classKey, fallText, recordRows } from "../model/board";
import { NumberHead, ScrollTable } from "../ui/scroll_table";
import { Ago } from "../ui/times";

export function RecordTable({ classes }: { classes: readonly BoardClass[] }) {
  return (
    <section class="panel" aria-label="Records">
      <header class="panel-head">
        <h2>Records</h2>
        <span class="muted">by kind and number of devices, the newest first</span>
      </header>
      <ScrollTable name="Records as a table" looks="cards board-records">
        <thead>
          <tr>
            <th scope="col">Devices</th>
            <NumberHead>Time to train</NumberHead>
            <NumberHead>Change</NumberHead>
            <th scope="col">Job</th>
            <th scope="col">Reached</th>
          </tr>
        </thead>
        <tbody>
          {recordRows(classes).map(({ of, record, holds }) => (
            <tr key={`${classKey(of)} ${record.job}`} class={holds ? "is-record" : ""}>
              <th scope="row">
                {classKey(of)} {holds && <span class="tag tag-good">record</span>}
              </th>
              <td class="number" data-title="Time">
                {formatDuration(record.seconds)}
              </td>
              <td class="number" data-title="Change">
                {fallText(record)}
              </td>
              <td data-title="Job">
                <a href={`#/jobs/${record.job}`} class="number">
                  {record.job}
                </a>
              </td>
              <td data-title="Reached">
                <Ago ms={record.reached_ms} />
              </td>
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

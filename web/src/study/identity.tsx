// What the device time of a size is made of: the identity of time-to-train efficiency, in words and in numbers.
import type { Study } from "../api/types";
import { formatPercent } from "../format/numbers";
import { parametersText } from "../model/study";
import { NumberHead, ScrollTable } from "../ui/scroll_table";

export function Identity({ study }: { study: Study }) {
  const tables = study.tables.filter(({ rows }) => rows.some((row) => row.time_efficiency !== null));
  if (tables.length === 0) return null;
  return (
    <section class="panel" aria-label="Efficiency of the time to train">
      <header class="panel-head">
        <h2>What the time to train is made of</h2>
        <p class="muted study-identity">
          The device time of the base for the same training, as a share of this size's device time. It is
          exactly the product of three ratios: throughput, samples, and time spent stepping.
        </p>
      </header>
      <ScrollTable name="Efficiency of the time to train as a table" looks="study-product">
        <thead>
          <tr>
            <NumberHead>Devices</NumberHead>
            <NumberHead title="(devices × time to train) of the base ÷ that of this size">
              Time-to-train efficiency
            </NumberHead>
            <NumberHead title="throughput of a device here ÷ that of the base">
              = throughput a device
            </NumberHead>
            <NumberHead title="samples to the target of the base ÷ those of this size">
              × samples to target
            </NumberHead>
            <NumberHead title="share of the time spent stepping here ÷ that of the base">
              × share spent stepping
            </NumberHead>
          </tr>
        </thead>
        {tables.map((table) => (
          <tbody key={parametersText(table.parameters)}>
            {table.rows.map(({ devices, time_efficiency: parts }) =>
              parts === null ? null : (
                <tr key={devices}>
                  <th scope="row" class="number">
                    {parametersText(table.parameters)} {devices}
                    {devices === table.base && <span class="muted"> base</span>}
                  </th>
                  <td class="number">
                    <strong>{formatPercent(parts.efficiency, 1)}</strong>
                  </td>
                  <td class="number">{formatPercent(parts.throughput, 1)}</td>
                  <td class="number">{formatPercent(parts.samples, 1)}</td>
                  <td class="number">{formatPercent(parts.stepping, 1)}</td>
                </tr>
              ),
            )}
          </tbody>
        ))}
      </ScrollTable>
    </section>
  );
}

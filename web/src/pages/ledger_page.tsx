// Where the time of the cluster's devices went: by day, account, node, experiment or job.
import { getLedger } from "../api/client";
import { serverNow } from "../api/server_clock";
import type { LedgerTable } from "../api/types";
import { formatCount, formatDeviceHours, formatShare } from "../format/numbers";
import { dayMs } from "../format/times";
import { useInterval } from "../hooks/use_interval";
import { useQuery } from "../hooks/use_query";
import {
  goodputRule,
  ledgerKinds,
  partsOf,
  rowHref,
  rowName,
  sumOf,
  tableSentence,
  type LedgerBy,
} from "../model/ledger";
import { route, setParams } from "../state/router";
import { AsOf } from "../ui/as_of";
import { Choice } from "../ui/choice";
import { Info } from "../ui/info";
import { LedgerBar, LedgerKey } from "../ui/ledger_bar";
import { Notice, NotYet } from "../ui/notice";
import { NumberHead, ScrollTable } from "../ui/scroll_table";

const refreshMs = 30_000;

const kinds: [LedgerBy, string][] = [
  ["day", "Day"],
  ["account", "Account"],
  ["node", "Node"],
  ["experiment", "Experiment"],
  ["job", "Job"],
];

const ranges: [string, string, number][] = [
  ["7d", "7 days", 7],
  ["30d", "30 days", 30],
  ["90d", "90 days", 90],
  ["all", "All", 0],
];

export function LedgerPage() {
  const { params } = route.value;
  const by = kinds.find(([kind]) => kind === params.get("by"))?.[0] ?? "day";
  const range = ranges.find(([name]) => name === params.get("range")) ?? ranges[0]!;
  const account = params.get("account") ?? "";
  const waits = params.get("waits") === "1";
  const [name, , days] = range;
  const turn = useInterval(refreshMs);
  const shown = useQuery(
    `ledger ${by} ${name} ${account}`,
    (signal) => {
      const query: Record<string, string> = { by };
      if (days > 0) query["from_ms"] = String(serverNow() - (days - 1) * dayMs);
      if (account !== "") query["account"] = account;
      return getLedger(query, signal);
    },
    [turn],
  );
  const ledger = shown.data;
  return (
    <div class="page ledger-page">
      <header class="page-header">
        <h1>Ledger</h1>
        <AsOf shown={shown} />
      </header>
      <div class="chart-toolbar">
        <Choice
          label="One row for each"
          value={by}
          options={kinds}
          onChange={(value) => setParams({ by: value === "day" ? null : value })}
        />
        <Choice
          label="Range"
          value={name}
          options={ranges.map(([value, title]): [string, string] => [value, title])}
          onChange={(value) => setParams({ range: value === "7d" ? null : value })}
        />
        <label class="ledger-account">
          Account
          <input
            type="text"
            value={account}
            placeholder="all"
            spellcheck={false}
            autocomplete="off"
            onChange={({ currentTarget: { value } }) => setParams({ account: value.trim() })}
          />
        </label>
        <label class="ledger-waits">
          <input
            type="checkbox"
            checked={waits}
            onChange={({ currentTarget: { checked } }) => setParams({ waits: checked ? "1" : null })}
          />
          include waiting
        </label>
      </div>
      {ledger ? (
        <Rows ledger={ledger} waits={waits} range={rangeText(range)} />
      ) : (
        <NotYet what="the ledger" shown={shown} />
      )}
    </div>
  );
}

const rangeText = ([, title, days]: (typeof ranges)[number]) =>
  days === 0 ? "in all" : `in the last ${title} (UTC)`;

function Rows({ ledger, waits, range }: { ledger: LedgerTable; waits: boolean; range: string }) {
  const { all, rows, by, count } = ledger;
  const parts = partsOf(all.totals, "devices", waits);
  if (parts.length === 0)
    return (
      <Notice kind="empty" title="Nothing to account for">
        {waits ? "No job waited or held a device" : "No job held a device"} {range}.
      </Notice>
    );
  const widest = Math.max(...rows.map(({ totals }) => sumOf(partsOf(totals, "devices", waits))));
  return (
    <>
      <p class="ledger-sentence">{tableSentence(ledger, range)}</p>
      <LedgerBar label="All of it" parts={parts} />
      <LedgerKey kinds={ledgerKinds.filter((kind) => parts.some((part) => part.kind === kind))} />
      <section class="panel" aria-label="Rows">
        <ScrollTable name="Device time as a table" looks="cards ledger-rows">
          <thead>
            <tr>
              <th scope="col">{kinds.find(([kind]) => kind === by)![1]}</th>
              <th scope="col">Device time</th>
              <NumberHead>
                Goodput <Info of="goodput">{goodputRule}</Info>
              </NumberHead>
              <NumberHead>Held, hours</NumberHead>
              {by !== "job" && <NumberHead>Jobs</NumberHead>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const own = partsOf(row.totals, "devices", waits);
              const [href, title] = [rowHref(by, row), rowName(by, row)];
              return (
                <tr key={row.key}>
                  <th scope="row">{href ? <a href={href}>{title}</a> : title}</th>
                  <td class="ledger-cell">
                    {own.length > 0 && (
                      <LedgerBar label={title} parts={own} share={widest > 0 ? sumOf(own) / widest : 1} />
                    )}
                  </td>
                  <td class="number" data-title="Goodput">
                    {row.goodput === null ? <span class="muted">not known</span> : formatShare(row.goodput)}
                  </td>
                  <td class="number" data-title="Held, hours">
                    {formatDeviceHours(row.held_device_ms)}
                  </td>
                  {by !== "job" && (
                    <td class="number" data-title="Jobs">
                      {formatCount(row.jobs)}
                    </td>
                  )}
                </tr>
              );
            })}
          </tbody>
        </ScrollTable>
        {count > rows.length && (
          <p class="muted panel-text">
            {formatCount(rows.length)} of {formatCount(count)} rows:{" "}
            {by === "day" ? "the last days" : "those that held the most"}.
          </p>
        )}
      </section>
    </>
  );
}

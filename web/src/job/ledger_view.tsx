// Where a job's time went: a sentence, a bar of the total, a lane for each attempt, and a table.
import { useMemo, useState } from "preact/hooks";
import type { JobLedger, LedgerKind } from "../api/types";
import { formatDeviceHours, formatShare } from "../format/numbers";
import { formatAbsolute, formatDuration } from "../format/times";
import { useJobLedger } from "../hooks/use_job_ledger";
import { costRule, costText, energyRule, energyText } from "../model/costs";
import {
  goodputRule,
  kindMeaning,
  kindText,
  lanesOf,
  ledgerKinds,
  ledgerSentence,
  partsOf,
  sumOf,
  type Lanes,
  type LedgerUnit,
} from "../model/ledger";
import { route, setParams } from "../state/router";
import { AsOf } from "../ui/as_of";
import { Button } from "../ui/button";
import { Choice } from "../ui/choice";
import { Info } from "../ui/info";
import { LedgerBar, LedgerSwatch } from "../ui/ledger_bar";
import { NotYet } from "../ui/notice";
import { saveAs } from "../ui/save_as";
import { NumberHead, ScrollTable } from "../ui/scroll_table";
import { Moment } from "../ui/times";

export function LedgerView({ job, changes }: { job: number; changes: number }) {
  const shown = useJobLedger(job, changes);
  const [lit, setLit] = useState<LedgerKind | null>(null);
  const ledger = shown.data;
  const unit: LedgerUnit = route.value.params.get("unit") === "devices" ? "devices" : "wall";
  const lanes = useMemo(() => ledger && lanesOf(ledger), [ledger]);
  if (!ledger) return <NotYet what="the ledger" shown={shown} />;
  const parts = partsOf(ledger.totals, unit);
  return (
    <div class="ledger">
      <p class="ledger-sentence">{ledgerSentence(ledger)}</p>
      <div class="chart-toolbar">
        <Choice
          label="Unit"
          value={unit}
          options={[
            ["wall", "Wall-clock"],
            ["devices", "Device time"],
          ]}
          onChange={(value) => setParams({ unit: value === "wall" ? null : value })}
        />
        <span>
          Goodput{" "}
          <strong class="number">
            {ledger.goodput === null ? "not known" : formatShare(ledger.goodput)}
          </strong>
        </span>
        <Info of="goodput">{goodputRule}</Info>
        <AsOf shown={shown} />
        <Button small onPress={() => saveAs(`job-${job}-ledger.csv`, new Blob([csvOf(ledger)]))}>
          Save as CSV
        </Button>
      </div>
      <LedgerBar label={unit === "wall" ? "Time" : "Device time"} parts={parts} lit={lit} />
      <Costs ledger={ledger} />
      {lanes && <LaneRows lanes={lanes} lit={lit} />}
      {ledger.totals.some(({ kind }) => kind === "running") && (
        <p class="muted">
          Its program does not report its phases. To see which of this time counted, append{" "}
          <code>{'{"type": "phase", "t": …, "phase": "stepping", "step": …}'}</code> to the file that{" "}
          <code>PODIUM_EVENTS</code> names.
        </p>
      )}
      <Totals ledger={ledger} unit={unit} onLit={setLit} />
    </div>
  );
}

function Costs({ ledger }: { ledger: JobLedger }) {
  const energy = energyText(ledger);
  const cost = costText(ledger);
  return (
    <>
      {energy !== null && (
        <p>
          Energy <Info of="energy">{energyRule}</Info> <span class="number">{energy}</span>
        </p>
      )}
      {cost !== null && (
        <p>
          Cost <Info of="cost">{costRule}</Info> <span class="number">{cost}</span>
        </p>
      )}
    </>
  );
}

function LaneRows({ lanes, lit }: { lanes: Lanes; lit: LedgerKind | null }) {
  const merged = lanes.lanes.some(({ pieces }) => pieces.some((piece) => piece.merged > 1));
  return (
    <div class="ledger-lanes">
      <ol aria-label="Attempts over time" tabIndex={0}>
        {lanes.lanes.map(({ attempt, pieces }) => (
          <li key={attempt}>
            <span class="ledger-lane-name">{attempt === 0 ? "waits" : `attempt ${attempt}`}</span>
            <span class="ledger-lane">
              {pieces.map(({ left, width, kind, title }) => (
                <span
                  key={left}
                  class={`ledger-piece ledger-${kind}${lit !== null && lit !== kind ? " is-dim" : ""}`}
                  style={{ left: `${100 * left}%`, width: `${100 * width}%` }}
                  title={title}
                />
              ))}
            </span>
          </li>
        ))}
      </ol>
      <div class="ledger-axis" aria-hidden="true">
        {lanes.ticks.map(({ left, seconds }) => (
          <span key={seconds} style={{ left: `${100 * left}%` }}>
            {formatDuration(seconds)}
          </span>
        ))}
      </div>
      <p class="muted">
        From <Moment ms={lanes.fromMs} /> to <Moment ms={lanes.toMs} />
        {merged && ". Pieces thinner than a pixel are drawn as one"}.
      </p>
    </div>
  );
}

interface TotalsProperties {
  ledger: JobLedger;
  unit: LedgerUnit;
  onLit(kind: LedgerKind | null): void;
}

function Totals({ ledger, unit, onLit }: TotalsProperties) {
  const whole = sumOf(partsOf(ledger.totals, unit));
  const all = partsOf(ledger.totals, "devices");
  const rows = ledgerKinds.flatMap((kind) => ledger.totals.filter((total) => total.kind === kind));
  return (
    <ScrollTable name="Time by kind" looks="cards">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <NumberHead>Time</NumberHead>
          <NumberHead>Share</NumberHead>
          <NumberHead>Device hours</NumberHead>
          <NumberHead>Times</NumberHead>
          <NumberHead>Longest</NumberHead>
        </tr>
      </thead>
      <tbody>
        {rows.map((total) => (
          <tr
            key={`${total.kind} ${total.detail}`}
            onPointerEnter={() => onLit(total.kind)}
            onPointerLeave={() => onLit(null)}
          >
            <th scope="row" title={kindMeaning[total.kind]}>
              <LedgerSwatch kind={total.kind} /> {kindText(total.kind)}
              {total.detail && <span class="muted"> {total.detail.replaceAll("_", " ")}</span>}
            </th>
            <td class="number" data-title="Time">
              {formatDuration(total.wall_ms / 1000)}
            </td>
            <td class="number" data-title="Share">
              {formatShare((unit === "wall" ? total.wall_ms : total.device_ms) / whole)}
            </td>
            <td class="number" data-title="Device hours">
              {formatDeviceHours(total.device_ms)}
            </td>
            <td class="number" data-title="Times">
              {total.times}
            </td>
            <td class="number" data-title="Longest">
              <a
                href={`#/jobs/${ledger.job}?tab=history`}
                title={`It began ${formatAbsolute(total.longest_from_ms)}. Opens the history`}
              >
                {formatDuration(total.longest_ms / 1000)}
              </a>
            </td>
          </tr>
        ))}
        <tr class="ledger-whole">
          <th scope="row">the whole</th>
          <td class="number" data-title="Time">
            {formatDuration(sumOf(partsOf(ledger.totals, "wall")) / 1000)}
          </td>
          <td class="number" data-title="Share">
            100 %
          </td>
          <td class="number" data-title="Device hours">
            {formatDeviceHours(sumOf(all))}
          </td>
          <td />
          <td />
        </tr>
      </tbody>
    </ScrollTable>
  );
}

function csvOf({ totals }: JobLedger): string {
  const lines = totals.map((total) =>
    [total.kind, total.detail, total.wall_ms, total.device_ms, total.times, total.longest_ms].join(","),
  );
  return ["kind,detail,wall_ms,device_ms,times,longest_ms", ...lines].join("\n") + "\n";
}

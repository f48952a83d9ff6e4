// A sweep that ends its losing trials: its rungs, and how far each trial came.
import { useMemo } from "preact/hooks";
import type { Asha, Study } from "../api/types";
import { formatCount } from "../format/numbers";
import { useSorted } from "../hooks/use_order";
import {
  bestText,
  hasWinner,
  isDecided,
  ruleText,
  rungRows,
  spentText,
  standing,
  trialColumns,
  trialsOf,
  trialStateText,
  type RungRow,
  type TrialColumn,
  type TrialMember,
} from "../model/asha";
import { compareHash } from "../model/compare_address";
import { JobStateBadge } from "../ui/badges";
import { Info } from "../ui/info";
import { SortHead, SortList } from "../ui/sort_head";
import { BarHead, NumberHead, ScrollTable } from "../ui/scroll_table";

interface Properties {
  study: Study;
  asha: Asha;
}

export function AshaView({ study, asha }: Properties) {
  const trials = useMemo(() => trialsOf(study), [study]);
  return (
    <>
      <section class="study-sentences" aria-label="In a sentence">
        <p class="study-sentence">{bestText(study, asha)}</p>
        <p class="muted">
          {ruleText(asha)} Device time: {spentText(asha)}{" "}
          <Info of="the budget">
            The second figure is an estimate: the device time of all trials if each trained to its end, at the
            device time of a step so far.
          </Info>
        </p>
      </section>
      <Rungs rows={rungRows(asha, trials)} asha={asha} />
      <Trials study={study} asha={asha} trials={trials} />
    </>
  );
}

function Rungs({ rows, asha }: { rows: readonly RungRow[]; asha: Asha }) {
  const most = Math.max(1, ...rows.map(({ told }) => told));
  return (
    <section class="panel" aria-label="Rungs">
      <header class="panel-head">
        <h2>Rungs</h2>
        <span class="muted">trials are compared by {asha.metric} at each</span>
      </header>
      <ScrollTable name="Rungs as a table" looks="cards study-rungs">
        <thead>
          <tr>
            <th scope="col">Rung</th>
            {["Step", "Arrived", "Went on", "Paused there", "Stopped there"].map((title) => (
              <NumberHead key={title}>{title}</NumberHead>
            ))}
            <BarHead />
          </tr>
        </thead>
        <tbody>
          {rows.map(({ rung, step, told, wentOn, paused, stopped }) => (
            <tr key={rung}>
              <th scope="row">Rung {rung}</th>
              {(
                [
                  ["Step", step],
                  ["Arrived", told],
                  ["Went on", wentOn],
                  ["Paused there", paused],
                  ["Stopped there", stopped],
                ] as const
              ).map(([title, count]) => (
                <td key={title} class="number" data-title={title}>
                  {formatCount(count)}
                </td>
              ))}
              <td class="study-bar study-rung-bar" aria-hidden="true">
                <span style={{ width: `${(100 * told) / most}%` }}>
                  <span style={{ width: `${told > 0 ? (100 * wentOn) / told : 0}%` }} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

const compared = 10;
const furthestFirst = { key: "standing", descending: true };

function Trials({ study, asha, trials }: Properties & { trials: readonly TrialMember[] }) {
  const shown = useMemo(() => trialColumns(asha, trials), [asha, trials]);
  const sortable = useMemo(
    () => [
      {
        key: "standing",
        title: "Trial",
        hint: "By the last rung that it reached, then by its newest value",
        number: true,
        value: (member: TrialMember) => standing(member, asha),
      },
      { key: "state", title: "State", value: ({ trial }: TrialMember) => trialStateText(trial) },
      ...shown,
    ],
    [asha, shown],
  );
  const { rows, order, onSort } = useSorted(trials, sortable, furthestFirst);
  const best = [...trials].sort((a, b) => standing(b, asha) - standing(a, asha)).slice(0, compared);
  return (
    <section class="panel" aria-label="Trials">
      <header class="panel-head">
        <h2>Trials</h2>
        <span class="muted">{formatCount(trials.length)}</span>
        {best.length > 1 && (
          <a href={compareHash(best.map(({ job }) => job))}>Compare the {best.length} that came furthest</a>
        )}
        <SortList columns={sortable} order={order} onSort={onSort} />
      </header>
      <ScrollTable name="Trials as a table" looks="cards study-trials" frame="study-members">
        <thead>
          <tr>
            {sortable.map((column, index) => (
              <SortHead
                key={column.key}
                column={{ ...column, number: index > 1 }}
                order={order}
                onSort={onSort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((member) => (
            <TrialRow
              key={member.job}
              member={member}
              columns={shown}
              mark={
                member.job === asha.best?.job
                  ? hasWinner(study)
                    ? "winner"
                    : isDecided(study)
                      ? "best"
                      : "best so far"
                  : ""
              }
            />
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

interface RowProperties {
  member: TrialMember;
  columns: readonly TrialColumn[];
  mark: string;
}

function TrialRow({ member, columns, mark }: RowProperties) {
  return (
    <tr class={mark ? "is-best" : ""}>
      <th scope="row">
        <a href={`#/jobs/${member.job}`}>
          <span class="number">{member.job}</span> {member.name}
        </a>
        {mark && <span class="tag tag-good">{mark}</span>}
        {member.seed !== null && <span class="tag">seed {member.seed}</span>}
        {member.artificial && <span class="tag tag-warn">artificial devices</span>}
      </th>
      <td class="study-state" data-title="State" title={member.reason}>
        {member.state === "failed" || member.state === "cancelled" ? (
          <JobStateBadge state={member.state} />
        ) : (
          trialStateText(member.trial)
        )}
      </td>
      {columns.map(({ key, title, text }) => (
        <td key={key} class="number" data-title={title}>
          {text(member)}
        </td>
      ))}
    </tr>
  );
}

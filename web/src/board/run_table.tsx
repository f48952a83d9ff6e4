// All runs of a benchmark that reached its target: where each comes from, and why it holds no record.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { BenchmarkDetails, BoardRun } from "../api/types";
import { formatCount } from "../format/numbers";
import { formatDuration } from "../format/times";
import { useSorted } from "../hooks/use_order";
import { ReproduceButton } from "../job/reproduce_button";
import { commitText, standingOf, type Standing } from "../model/board";
import { compareHash } from "../model/compare_address";
import { Button } from "../ui/button";
import { SortHead, SortList } from "../ui/sort_head";
import { ScrollTable } from "../ui/scroll_table";
import { Ago } from "../ui/times";

/** The rest is shown on request. */
const shownAtFirst = 20;

interface Sortable {
  key: string;
  title: string;
  hint?: string;
  number?: boolean;
  value(run: BoardRun): number | string | null;
}

const columns: readonly Sortable[] = [
  { key: "job", title: "Job", value: ({ job }) => job },
  { key: "time", title: "Time to train", number: true, value: ({ seconds }) => seconds },
  {
    key: "devices",
    title: "Devices",
    value: ({ devices, device_models }) => `${String(devices[0] ?? 0).padStart(9)} ${device_models.join()}`,
  },
  { key: "restarts", title: "Restarts", number: true, value: ({ restarts }) => restarts },
  { key: "reached", title: "Reached", value: ({ reached_ms }) => reached_ms },
];
const newestFirst = { key: "reached", descending: true };

export function RunTable({ board }: { board: BenchmarkDetails }) {
  const { rows, order, onSort } = useSorted(board.all, columns, newestFirst);
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, shownAtFirst);
  return (
    <section class="panel" aria-label="All runs">
      <header class="panel-head">
        <h2>All runs</h2>
        <span class="muted">{formatCount(rows.length)} reached the target</span>
        <SortList columns={columns} order={order} onSort={onSort} />
      </header>
      <ScrollTable name="All runs as a table" looks="cards board-all">
        <thead>
          <tr>
            {columns.map((column) => (
              <SortHead key={column.key} column={column} order={order} onSort={onSort} />
            ))}
            <th scope="col">Where it comes from</th>
            <th scope="col">On the board</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((run) => (
            <RunRow key={run.job} run={run} standing={standingOf(run, board.classes)} />
          ))}
        </tbody>
      </ScrollTable>
      {shown.length < rows.length && (
        <p class="panel-text">
          <Button small onPress={() => setAll(true)}>
            Show all {formatCount(rows.length)}
          </Button>
        </p>
      )}
    </section>
  );
}

function RunRow({ run, standing }: { run: BoardRun; standing: Standing }) {
  return (
    <tr class={standing.kind === "holds" ? "is-record" : ""}>
      <th scope="row">
        <a href={`#/jobs/${run.job}`}>
          <span class="number">{run.job}</span> {run.name}
        </a>
        {run.reproduces !== null && (
          <span class="tag">
            repeats <a href={`#/jobs/${run.reproduces}`}>{run.reproduces}</a>
          </span>
        )}
      </th>
      <td class="number" data-title="Time">
        {formatDuration(run.seconds)}
      </td>
      <td class="board-devices" data-title="Devices">
        {run.devices.join(", ")} × {run.device_models.join(" and ") || "not recorded"}
      </td>
      <td class="number" data-title="Restarts">
        {run.restarts}
      </td>
      <td data-title="Reached">
        <Ago ms={run.reached_ms} />
      </td>
      <td class="board-source" data-title="Where it comes from">
        <Provenance run={run} />
      </td>
      <td class="board-standing" data-title="On the board">
        <StandingText standing={standing} job={run.job} />
        <ReproduceButton job={{ id: run.job, name: run.name }} small />
      </td>
    </tr>
  );
}

const nodesNamed = 2;

function nodesText(nodes: readonly string[]): string {
  const named = nodes.slice(0, nodesNamed).join(", ");
  return nodes.length > nodesNamed ? `${named} and ${nodes.length - nodesNamed} more` : named;
}

function Provenance({ run }: { run: BoardRun }) {
  const commit = commitText(run.source);
  const { repository, path } = run.source ?? {};
  return (
    <dl class="board-facts">
      <Fact name="commit" title={[repository, path, run.source?.commit].filter(Boolean).join(" ")}>
        {commit === null ? (
          <span class="muted">not recorded</span>
        ) : (
          <span class={run.source?.dirty ? "warn" : undefined}>{commit}</span>
        )}
      </Fact>
      <Fact name="spec" title={`${run.file}, sha256 ${run.spec_sha256}`}>
        {run.spec_sha256.slice(0, 8)}
      </Fact>
      <Fact name="seed">{run.seed ?? <span class="muted">none</span>}</Fact>
      <Fact name="on" title={run.nodes.join(", ")}>
        {nodesText(run.nodes) || <span class="muted">not recorded</span>}
      </Fact>
      <Fact name="podium">{run.versions.join(", ") || <span class="muted">not recorded</span>}</Fact>
    </dl>
  );
}

interface FactProperties {
  name: string;
  title?: string;
  children: ComponentChildren;
}

function Fact({ name, title, children }: FactProperties) {
  return (
    <div title={title}>
      <dt>{name}</dt> <dd>{children}</dd>
    </div>
  );
}

const tags = { holds: "record", held: "was a record", slower: "no record", excluded: "sets no record" };

function StandingText({ standing: { kind, why, rival }, job }: { standing: Standing; job: number }) {
  const colour = { holds: "tag tag-good", held: "tag", slower: "tag", excluded: "tag tag-warn" }[kind];
  return (
    <>
      <span class={colour}>{tags[kind]}</span>
      <span class="board-why">
        {why.join("; ")}
        {rival !== null && (
          <>
            {why.length > 0 && " · "}
            <a href={compareHash([rival, job])}>compare with {rival}</a>
          </>
        )}
      </span>
    </>
  );
}

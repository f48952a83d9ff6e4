// The jobs that wait for devices, in their order and with what determines it; and the jobs that wait for something else.
import { useMemo } from "preact/hooks";
import { getQueue } from "../api/client";
import type { Queue, WaitingJob } from "../api/types";
import { formatCount } from "../format/numbers";
import { useQuery } from "../hooks/use_query";
import { useScheduling } from "../hooks/use_scheduling";
import { useSorted } from "../hooks/use_order";
import { apartColumns, queueColumns } from "../job/queue_columns";
import { SelectedJobs } from "../job/selected_jobs";
import { formatOrder } from "../model/order";
import { describePolicy, linesOf, type WaitingLine } from "../model/queue";
import type { Operated } from "../model/operations";
import { route, setParams } from "../state/router";
import { AsOf } from "../ui/as_of";
import { Button } from "../ui/button";
import { Choice } from "../ui/choice";
import { DataTable, type Column } from "../ui/data_table";
import { Notice, NotYet } from "../ui/notice";
import { useChosen, type Selection } from "../ui/selection";
import "../styles/queue.css";

const firstJobs = 100;
const mostJobs = 1000;

export function QueuePage() {
  const { params } = route.value;
  const limit = params.get("all") === null ? firstJobs : mostJobs;
  const shown = useQuery("queue", (signal) => getQueue(limit, signal), [useScheduling(), limit]);
  const { data } = shown;
  const lines = data ? linesOf(data) : [];
  const line = lines.find(({ id }) => id === params.get("of")) ?? lines[0];
  return (
    <div class="page page-fill">
      <header class="page-header">
        <h1>Queue</h1>
        <AsOf shown={shown} />
        {data && <Policy queue={data} />}
      </header>
      {line ? (
        <Line key={line.id} line={line} lines={lines} />
      ) : data ? (
        <Notice kind="empty" title="No job waits">
          See <a href="#/jobs">all jobs</a>.
        </Notice>
      ) : (
        <NotYet what="the queue" shown={shown} />
      )}
    </div>
  );
}

const Policy = ({ queue }: { queue: Queue }) => (
  <p class="muted explanation">
    Policy {queue.policy}: {describePolicy(queue)}. Jobs that the quota of their account covers go first.
  </p>
);

function Line({ line, lines }: { line: WaitingLine; lines: readonly WaitingLine[] }) {
  const selection = useSelection(line);
  const reservedFrom = line.kind === "queue" ? line.reservedFrom : null;
  const columns = useMemo(() => queueColumns(reservedFrom), [reservedFrom]);
  return (
    <>
      <div class="toolbar">
        <Choice
          label="What jobs wait for"
          value={line.id}
          options={lines.map(({ id, title, total }) => [id, `${title} ${formatCount(total)}`])}
          onChange={(of) => setParams({ of })}
        />
        <span class="toolbar-summary muted" role="status">
          {line.sentence}
          <More shown={line.jobs.length} total={line.total} />
        </span>
      </div>
      <SelectedJobs jobs={selection.jobs} onClear={selection.clear} />
      {line.kind === "queue" ? (
        <Table line={line} jobs={line.jobs} columns={columns} selection={selection} />
      ) : (
        <Table line={line} jobs={line.jobs} columns={apartColumns} selection={selection} />
      )}
    </>
  );
}

/** How many jobs are shown, and a button for more. */
function More({ shown, total }: { shown: number; total: number }) {
  if (shown >= total) return null;
  return shown < mostJobs ? (
    <Button small onPress={() => setParams({ all: "1" })}>
      Show {formatCount(Math.min(total, mostJobs))} of {formatCount(total)}
    </Button>
  ) : (
    <span>the first {formatCount(shown)}</span>
  );
}

/** A job that has left the line is not selected any more. */
function useSelection({ id, jobs }: WaitingLine): Selection & { jobs: readonly Operated[] } {
  const waiting: readonly WaitingJob[] = jobs;
  const chosen = useChosen(id);
  const { ids } = chosen;
  const selected = waiting.filter(({ job }) => ids.has(job));
  return {
    ...chosen,
    all: {
      checked: waiting.length > 0 && selected.length === waiting.length,
      busy: false,
      set: (on) =>
        on
          ? chosen.set(
              waiting.map(({ job }) => job),
              true,
            )
          : chosen.clear(),
    },
    jobs: selected.map(({ job, blocker, priority }) => ({
      id: job,
      state: "queued",
      held: blocker === "held",
      attempt: 0,
      priority,
    })),
  };
}

const byPlace = { key: "position", descending: false };
const cardHeight = 88;

interface TableProperties<Row extends WaitingJob> {
  line: WaitingLine;
  jobs: readonly Row[];
  columns: readonly Column<Row>[];
  selection: Selection;
}

function Table<Row extends WaitingJob>({ line, jobs, columns, selection }: TableProperties<Row>) {
  const { rows, order, onSort } = useSorted(jobs, columns, byPlace);
  return (
    <DataTable
      label={line.sentence}
      name="queue"
      rows={rows}
      columns={columns}
      order={order}
      onSort={onSort}
      idOf={({ job }) => job}
      nameOf={({ job }) => `job ${job}`}
      hrefOf={({ job }) => `#/jobs/${job}`}
      stable
      view={`${line.id} ${formatOrder(order)}`}
      cardHeight={cardHeight}
      selection={selection}
    />
  );
}

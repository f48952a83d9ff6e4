// The processes of one attempt. A click on a process opens its log.
import type { Attempt, Task } from "../api/types";
import { useSorted } from "../hooks/use_order";
import { formatOrder } from "../model/order";
import { formatHash, route, withParams } from "../state/router";
import { DataTable, type Column } from "../ui/data_table";
import "../styles/task_table.css";

function exitText(exit: Task["exit"]): string {
  if (exit === null) return "–";
  const how = exit.signal === 0 ? `code ${exit.code}` : `signal ${exit.signal}`;
  const { cause: by = "program" } = exit;
  const cause = by === "program" ? how : `${by.replaceAll("_", " ")}, ${how}`;
  return exit.message ? `${cause}: ${exit.message}` : cause;
}

const columns: readonly Column<Task>[] = [
  {
    key: "rank",
    title: "Rank",
    width: "56px",
    number: true,
    value: ({ rank }) => rank,
    cell: ({ rank }) => rank,
  },
  {
    key: "node",
    title: "Node",
    width: "minmax(90px, 1fr)",
    value: ({ node }) => node,
    cell: ({ node }) => (
      <a href={`#/nodes?q=${encodeURIComponent(node)}`} tabIndex={-1} title={node}>
        {node}
      </a>
    ),
  },
  {
    key: "devices",
    title: "Devices",
    width: "minmax(72px, 1fr)",
    number: true,
    cell: ({ devices }) => <span title={devices.join(", ")}>{devices.join(", ")}</span>,
  },
  { key: "state", title: "State", width: "76px", value: ({ state }) => state, cell: ({ state }) => state },
  { key: "pid", title: "Pid", width: "76px", number: true, from: 560, cell: ({ pid }) => pid || "–" },
  {
    key: "exit",
    title: "Exit",
    wraps: true,
    width: "minmax(90px, 3fr)",
    cell: ({ exit }) => <span title={exitText(exit)}>{exitText(exit)}</span>,
  },
];

const none: readonly Task[] = [];
const byRank = { key: "rank", descending: false };
const cardHeight = 64;

const logOf = (attempt: Attempt, { rank }: Task) =>
  formatHash(withParams(route.value, { tab: null, attempt: String(attempt.number), rank: String(rank) }));

export function TaskTable({ attempt }: { attempt: Attempt | undefined }) {
  const { rows, order, onSort } = useSorted(attempt?.tasks ?? none, columns, byRank);
  if (!attempt) return <p class="muted panel-text">No attempt has started.</p>;
  return (
    <DataTable
      label={`Tasks of attempt ${attempt.number}`}
      name="task"
      rows={rows}
      columns={columns}
      order={order}
      onSort={onSort}
      idOf={({ rank }) => rank}
      hrefOf={(task) => logOf(attempt, task)}
      stable
      view={`tasks of ${attempt.number} ${formatOrder(order)}`}
      cardHeight={cardHeight}
    />
  );
}

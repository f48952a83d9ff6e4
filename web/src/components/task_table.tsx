// The processes of one attempt.
import type { Attempt, Task } from "../api/types";

function exitText(exit: Task["exit"]): string {
  if (exit === null) return "–";
  const how = exit.signal === 0 ? `code ${exit.code}` : `signal ${exit.signal}`;
  const cause = exit.cause === "program" ? how : `${exit.cause.replaceAll("_", " ")}, ${how}`;
  return exit.message ? `${cause}: ${exit.message}` : cause;
}

export function TaskTable({ attempt }: { attempt: Attempt | undefined }) {
  if (!attempt) return <p class="muted panel-text">No attempt has started.</p>;
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={`Tasks of attempt ${attempt.number}`}>
      <table class="table">
        <thead>
          <tr>
            <th class="number">Rank</th>
            <th>Node</th>
            <th class="number">Device</th>
            <th>State</th>
            <th class="number">Pid</th>
            <th>Exit</th>
          </tr>
        </thead>
        <tbody>
          {attempt.tasks.map((task) => (
            <tr key={task.rank}>
              <td class="number">{task.rank}</td>
              <td>
                <a href={`#/nodes?q=${encodeURIComponent(task.node)}`}>{task.node}</a>
              </td>
              <td class="number">{task.device}</td>
              <td>{task.state}</td>
              <td class="number">{task.pid || "–"}</td>
              <td class="exit">{exitText(task.exit)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// The choice of the rank whose log is shown: a list if there are few, a field for the number if there are many.
import type { Task } from "../api/types";
import { formatCount } from "../format/numbers";
import { setParams } from "../state/router";

const mostListed = 64;

export function RankChoice({ tasks, rank }: { tasks: readonly Task[]; rank: number }) {
  const choose = (value: string) => setParams({ rank: value });
  if (tasks.length > mostListed) return <RankNumber tasks={tasks} rank={rank} onChoose={choose} />;
  return (
    <label>
      Rank
      <select class="line-field" value={rank} onChange={(event) => choose(event.currentTarget.value)}>
        {tasks.map((task) => (
          <option key={task.rank} value={task.rank}>
            {task.rank} · {task.node}
          </option>
        ))}
      </select>
    </label>
  );
}

interface NumberProperties {
  tasks: readonly Task[];
  rank: number;
  onChoose(value: string): void;
}

function RankNumber({ tasks, rank, onChoose }: NumberProperties) {
  const task = tasks.find((each) => each.rank === rank);
  return (
    <>
      <label>
        Rank
        <input
          class="line-field"
          type="number"
          value={rank}
          min={0}
          max={tasks.length - 1}
          onChange={({ currentTarget }) => {
            if (currentTarget.validity.valid && currentTarget.value !== "") onChoose(currentTarget.value);
          }}
        />
      </label>
      <span class="muted">
        of {formatCount(tasks.length)}
        {task && ` · ${task.node}`}
      </span>
    </>
  );
}

// The number of jobs in each state.
import { jobStates } from "../api/types";
import { formatCount } from "../format/numbers";
import { JobStateIcon } from "./icons";

export function StateCountList({ counts }: { counts: Record<string, number | undefined> }) {
  return (
    <span class="state-counts">
      {jobStates.map((state) => {
        const some = counts[state];
        return (
          some && (
            <span key={state} class={`badge state-${state}`}>
              <JobStateIcon state={state} />
              <span>
                {formatCount(some)} <span class="state-word">{state}</span>
              </span>
            </span>
          )
        );
      })}
    </span>
  );
}

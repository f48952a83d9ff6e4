// All jobs, or those of one experiment, with filter, order and the live table. The address has the reader's choices.
import { jobStates } from "../api/types";
import { formatCount } from "../format/numbers";
import { useJobList, type JobListShown } from "../hooks/use_job_list";
import { toggledState } from "../model/job_list";
import { connection } from "../state/store";
import { AsOf } from "../ui/as_of";
import { FilterBox } from "../ui/filter_box";
import { JobStateIcon } from "../ui/icons";
import { NoRows } from "../ui/notice";
import { StateChips } from "../ui/state_chips";
import { useJobSelection } from "./job_selection";
import { JobTable } from "./job_table";
import { SelectedJobs } from "./selected_jobs";

export function JobList({ experiment }: { experiment: number | null }) {
  const list = useJobList(experiment);
  const selection = useJobSelection(list);
  const { view, listed } = list;
  return (
    <>
      <div class="toolbar">
        <FilterBox value={view.text} label="Filter jobs" placeholder="Name, number or key:value" />
        <StateChips
          states={jobStates}
          chosen={view.states}
          counts={listed.states}
          icon={(state) => <JobStateIcon state={state} />}
          className={(state) => `state-${state}`}
          toggled={(state) => toggledState(view.states, state)}
        />
        <span class="toolbar-summary muted" role="status">
          {listed.total !== null && countJobs(listed.total)}
        </span>
        <AsOf shown={list.answer} />
        {selection.problem && (
          <span class="error-text" role="alert">
            {selection.problem}
          </span>
        )}
      </div>
      <SelectedJobs jobs={selection.jobs} onClear={selection.clear} />
      {hasRows(list) ? (
        <JobTable list={list} selection={selection} />
      ) : (
        <NoRows
          one="job"
          list={list.answer}
          complete={listed.total !== null}
          filtered={view.text !== "" || view.states.size > 0}
          empty="No jobs yet"
        >
          Submit one with <code>podium submit experiment.yaml</code> or <a href="#/submit">here</a>.
        </NoRows>
      )}
    </>
  );
}

const countJobs = (count: number) => `${formatCount(count)} ${count === 1 ? "job" : "jobs"}`;

/** This also holds while the rows are being loaded: placeholders are shown. */
function hasRows({ listed, answer }: JobListShown): boolean {
  if (listed.total !== null) return listed.total > 0;
  return answer.error === "" && connection.value.state !== "offline";
}

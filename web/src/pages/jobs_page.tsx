// All jobs, or those of one experiment: filter, sort and the live table. What is chosen is in the address.
import { useMemo } from "preact/hooks";
import { jobStates } from "../api/types";
import { FilterBox } from "../components/filter_box";
import { JobStateIcon } from "../components/icons";
import { JobTable } from "../components/job_table";
import { Notice } from "../components/notice";
import { StateChips } from "../components/state_chips";
import { countStates, filterFrom, filterJobs, sortFrom, sortJobs, toggledState } from "../model/job_list";
import { formatCount } from "../model/numbers";
import { route, setParams } from "../state/router";
import { connection, jobs, jobsLoading, mostJobs } from "../state/store";

export function JobsPage() {
  return (
    <div class="page page-fill">
      <h1 class="visually-hidden">Jobs</h1>
      <JobList experiment={null} />
    </div>
  );
}

export function JobList({ experiment }: { experiment: number | null }) {
  const { params } = route.value;
  const all = jobs.value;
  const filter = useMemo(() => filterFrom(params, experiment), [params, experiment]);
  const order = useMemo(() => sortFrom(params), [params]);
  const counts = useMemo(
    () => countStates(filterJobs(all.values(), { ...filter, states: new Set() })),
    [all, filter],
  );
  const rows = useMemo(() => sortJobs(filterJobs(all.values(), filter), order), [all, filter, order]);
  return (
    <>
      <div class="toolbar">
        <FilterBox
          value={filter.text}
          label="Filter jobs"
          placeholder="Filter by name, or label as key:value"
        />
        <StateChips
          states={jobStates}
          chosen={filter.states}
          counts={counts}
          icon={(state) => <JobStateIcon state={state} />}
          className={(state) => `state-${state}`}
          toggled={(state) => toggledState(filter.states, state)}
        />
        <Summary shown={rows.length} />
      </div>
      {rows.length > 0 ? (
        <JobTable rows={rows} order={order} view={params.toString()} />
      ) : (
        <Nothing filtered={all.size > 0} />
      )}
    </>
  );
}

function Summary({ shown }: { shown: number }) {
  const { state, total } = jobsLoading.value;
  const have = jobs.value.size;
  let text = `${formatCount(shown)} ${shown === 1 ? "job" : "jobs"}`;
  if (state === "loading" && total > have) text = `loading ${formatCount(have)} of ${formatCount(total)}…`;
  else if (total > mostJobs) text += ` of the newest ${formatCount(mostJobs)}; ${formatCount(total)} in all`;
  return (
    <span class="toolbar-summary muted" role="status">
      {text}
    </span>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  const loading = jobsLoading.value;
  if (loading.state === "failed") {
    return (
      <Notice kind="failed" title="The jobs could not be loaded">
        {loading.error}
      </Notice>
    );
  }
  if (loading.state === "loading") {
    const offline = connection.value.state === "offline";
    return <Notice kind="loading" title={offline ? "Waiting for the coordinator" : "Loading jobs…"} />;
  }
  if (filtered) {
    return (
      <Notice kind="empty" title="No job matches this filter">
        <button type="button" class="button" onClick={() => setParams({ q: null, state: null })}>
          Show all jobs
        </button>
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No jobs yet">
      Submit one with <code>podium submit experiment.yaml</code> or <a href="#/submit">here</a>.
    </Notice>
  );
}

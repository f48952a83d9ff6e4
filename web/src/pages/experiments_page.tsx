// Every experiment: a spec, the commit it came from, and how its jobs stand.
import { getExperiments } from "../api/client";
import type { Experiment, Job, JobState } from "../api/types";
import { jobStates } from "../api/types";
import { Ago } from "../components/badges";
import { FilterBox } from "../components/filter_box";
import { JobStateIcon } from "../components/icons";
import { Notice } from "../components/notice";
import { SourceLine } from "../components/spec_view";
import { useResource } from "../components/use_resource";
import { countStates } from "../model/job_list";
import { formatCount } from "../model/numbers";
import { route } from "../state/router";
import { generation, jobs } from "../state/store";

/** A longer table helps nobody: older ones are found with the filter. */
const most = 200;

export function ExperimentsPage() {
  const known = jobs.value;
  const newest = known.size;
  const list = useResource((signal) => getExperiments(signal), "experiments", [generation.value, newest]);
  if (!list.data) {
    return (
      <div class="page">
        <h1 class="visually-hidden">Experiments</h1>
        {list.error ? (
          <Notice kind="failed" title="The experiments could not be loaded">
            {list.error}
          </Notice>
        ) : (
          <Notice kind="loading" title="Loading experiments…" />
        )}
      </div>
    );
  }
  const text = route.value.params.get("q") ?? "";
  const matching = list.data.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const experiments = matching.sort((a, b) => b.id - a.id).slice(0, most);
  return (
    <div class="page">
      <h1 class="visually-hidden">Experiments</h1>
      <div class="toolbar">
        <FilterBox value={text} label="Filter experiments" placeholder="Filter by name" />
        <span class="toolbar-summary muted" role="status">
          {formatCount(matching.length)} {matching.length === 1 ? "experiment" : "experiments"}
          {matching.length > most && `, the newest ${most} shown`}
        </span>
      </div>
      {list.data.length === 0 ? (
        <Notice kind="empty" title="No experiments yet">
          Submit one with <code>podium submit experiment.yaml</code> or <a href="#/submit">here</a>.
        </Notice>
      ) : (
        <div class="panel scroll-x" tabIndex={0} role="region" aria-label="Experiments">
          <table class="table">
            <thead>
              <tr>
                <th class="number">Id</th>
                <th>Name</th>
                <th>Jobs</th>
                <th>Created</th>
                <th>Source</th>
              </tr>
            </thead>
            <tbody>
              {experiments.map((experiment) => (
                <Row key={experiment.id} experiment={experiment} known={known} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Row({ experiment, known }: { experiment: Experiment; known: ReadonlyMap<number, Job> }) {
  const members = experiment.jobs.map((id) => known.get(id)).filter((job) => job !== undefined);
  const counts = countStates(members);
  return (
    <tr>
      <td class="number">{experiment.id}</td>
      <td>
        <a href={`#/experiments/${experiment.id}`}>{experiment.name}</a>
      </td>
      <td>
        <StateCounts counts={counts} />
        {members.length < experiment.jobs.length && (
          <span class="muted">{experiment.jobs.length} in all</span>
        )}
      </td>
      <td>
        <Ago ms={experiment.created_ms} />
      </td>
      <td>
        <SourceLine source={experiment.source} />
      </td>
    </tr>
  );
}

function StateCounts({ counts }: { counts: Record<JobState, number> }) {
  return (
    <span class="state-counts">
      {jobStates
        .filter((state) => counts[state] > 0)
        .map((state) => (
          <span key={state} class={`badge state-${state}`}>
            <JobStateIcon state={state} />
            {counts[state]} {state}
          </span>
        ))}
    </span>
  );
}

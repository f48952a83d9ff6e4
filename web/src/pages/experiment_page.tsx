// One experiment: where it came from, its jobs, and the spec they were made from.
import { getExperiment } from "../api/client";
import { Ago } from "../components/badges";
import { Notice } from "../components/notice";
import { SourceLine } from "../components/spec_view";
import { useResource } from "../components/use_resource";
import { generation } from "../state/store";
import { JobList } from "./jobs_page";

export function ExperimentPage({ id }: { id: number }) {
  const { data, error, notFound } = useResource((signal) => getExperiment(id, signal), `experiment ${id}`, [
    generation.value,
  ]);
  if (!data) {
    return (
      <div class="page">
        <h1 class="visually-hidden">Experiment {id}</h1>
        {notFound ? (
          <Notice kind="empty" title={`There is no experiment ${id}`}>
            See <a href="#/experiments">all experiments</a>.
          </Notice>
        ) : error ? (
          <Notice kind="failed" title={`Experiment ${id} could not be loaded`}>
            {error}
          </Notice>
        ) : (
          <Notice kind="loading" title={`Loading experiment ${id}…`} />
        )}
      </div>
    );
  }
  return (
    <div class="page page-fill">
      <header class="job-title">
        <h1>
          <span class="muted number">{id}</span> {data.name}
        </h1>
        <SourceLine source={data.source} />
        <span class="job-title-end muted">
          created <Ago ms={data.created_ms} />
        </span>
      </header>
      <details class="panel spec-details">
        <summary>Spec</summary>
        <pre class="code" tabIndex={0} aria-label="Spec as written">
          {data.spec}
        </pre>
      </details>
      <JobList experiment={id} />
    </div>
  );
}

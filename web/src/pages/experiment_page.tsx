// One experiment: its commit, its jobs, and its spec.
import { getExperiment } from "../api/client";
import { NotHere } from "../ui/notice";
import { Ago } from "../ui/times";
import { SourceLine } from "../job/spec_view";
import { useQuery } from "../hooks/use_query";
import { JobList } from "../job/job_list";
import { useTitle } from "../hooks/use_title";
import { compareHash, mostJobs } from "../model/compare_address";
import "../styles/experiments.css";

export function ExperimentPage({ id }: { id: number }) {
  const shown = useQuery(`experiment ${id}`, (signal) => getExperiment(id, signal));
  const { data } = shown;
  useTitle(data && `${data.name} · experiment ${id}`);
  if (!data) {
    return (
      <div class="page">
        <h1 class="visually-hidden">Experiment {id}</h1>
        <NotHere what={`experiment ${id}`} all="experiments" shown={shown} />
      </div>
    );
  }
  return (
    <div class="page page-fill">
      <header class="page-header">
        <h1>
          <span class="muted number">{id}</span> {data.name}
        </h1>
        <SourceLine source={data.source} />
        <span class="page-actions">
          {data.jobs.length > 1 && <a href={`#/studies/${id}`}>Study</a>}
          {data.jobs.length > 1 && (
            <a href={compareHash(data.jobs.slice(0, mostJobs))}>
              {data.jobs.length > mostJobs ? `Compare the first ${mostJobs} jobs` : "Compare its jobs"}
            </a>
          )}
          <span class="muted">
            created <Ago ms={data.created_ms} />
          </span>
        </span>
      </header>
      <JobList experiment={id} />
      <section class="panel experiment-spec" aria-label="Spec">
        <header class="panel-head">
          <h2>Spec</h2>
        </header>
        <pre class="code" tabIndex={0} aria-label="Spec as written">
          {data.spec}
        </pre>
      </section>
    </div>
  );
}

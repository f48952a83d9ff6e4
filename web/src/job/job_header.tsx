// The head of a job's page: what the job is, its state, and its main figures.
import type { JobDetail } from "../api/types";
import type { Shown } from "../hooks/use_query";
import { AsOf } from "../ui/as_of";
import { HeldBadge, JobStateBadge, Labels, TrackedBadge } from "../ui/badges";
import { Ago } from "../ui/times";
import { CompareWith } from "./compare_with";
import { JobOperations } from "./job_operations";
import { commandLine, commandOf, isReplica } from "../model/command";
import type { SeriesMap } from "../model/series";
import { JobStats } from "./job_stats";
import { MlperfButton } from "./mlperf_button";
import { ReproduceButton } from "./reproduce_button";
import { Reproductions } from "./reproductions";
import "../styles/job_page.css";

interface Properties {
  job: JobDetail;
  series: SeriesMap | null;
  shown: Shown<JobDetail>;
}

export function JobHeader({ job, series, shown }: Properties) {
  const command = commandOf(job.spec);
  return (
    <header class="job-header">
      <div class="page-header">
        <h1>
          <span class="muted number">{job.id}</span> {job.name}
        </h1>
        <JobStateBadge state={job.state} />
        {job.held && <HeldBadge />}
        {job.tracked && <TrackedBadge />}
        <AsOf shown={shown} />
        <Labels labels={job.labels} />
        <span class="page-actions">
          <CompareWith job={job} />
          <a href={`#/experiments/${job.experiment}`}>Experiment {job.experiment}</a>
          <span class="muted">
            submitted <Ago ms={job.submitted_ms} />
          </span>
          <MlperfButton job={job} />
          {!job.tracked && <ReproduceButton job={job} />}
          <JobOperations job={job} />
        </span>
      </div>
      {job.reason && job.state !== "queued" && (
        <p class={`job-reason job-reason-${job.state}`} role="status">
          {job.reason}
        </p>
      )}
      {!job.tracked && <Reproductions job={job} />}
      {command && (
        <pre class="job-command" tabIndex={0} aria-label="Command">
          {commandLine(command)}
        </pre>
      )}
      <JobStats job={job} series={series} trains={!job.tracked && !command && !isReplica(job.spec)} />
    </header>
  );
}

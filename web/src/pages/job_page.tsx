// One job: its state, its curves, its attempts on a time line, its tasks, log, spec and history.
import type { JobDetail, JobEvent } from "../api/types";
import { useTitle } from "../hooks/use_title";
import { JobCharts } from "../job/job_charts";
import { JobHeader } from "../job/job_header";
import { LogTail } from "../job/log_tail";
import { namesOutputs } from "../model/outputs";
import { NotHere } from "../ui/notice";
import { lazy } from "../ui/lazy";
import { Tabs } from "../ui/tabs";
import { TimeLineView } from "../job/time_line_view";
import { useJob } from "../hooks/use_job";
import { useProjection } from "../hooks/use_projection";
import type { Shown } from "../hooks/use_query";
import { useSeries } from "../hooks/use_series";
import { route } from "../state/router";

// Parts that most readers of the page do not open.
const WhyPanel = lazy(async () => (await import("../job/why_panel")).WhyPanel, null);
const TaskTable = lazy(async () => (await import("../job/task_table")).TaskTable, null);
const LedgerView = lazy(async () => (await import("../job/ledger_view")).LedgerView, null);
const SpecView = lazy(async () => (await import("../job/spec_view")).SpecView, null);
const RunView = lazy(async () => (await import("../job/run_view")).RunView, null);
const OutputList = lazy(async () => (await import("../job/output_list")).OutputList, null);
const HistoryList = lazy(async () => (await import("../job/history_list")).HistoryList, null);

export function JobPage({ id }: { id: number }) {
  const shown = useJob(id);
  const { data: job, history, changes } = shown;
  const series = useSeries(id);
  const projection = useProjection(job);
  useTitle(job && `${job.name} · ${job.id} · ${job.state}`);
  if (!job)
    return (
      <div class="page">
        <h1 class="visually-hidden">Job {id}</h1>
        <NotHere what={`job ${id}`} all="jobs" shown={shown} />
      </div>
    );
  return (
    <div class="page job-page">
      <JobHeader job={job} series={series.data} shown={shown} />
      {job.state === "queued" && <WhyPanel job={job} changes={changes} />}
      <JobCharts job={job} shown={series} projection={projection} />
      {job.tracked && (
        <section class="panel" aria-label="What was logged">
          <RunView job={job} />
        </section>
      )}
      {!job.tracked && <JobLower job={job} history={history} changes={changes} />}
    </div>
  );
}

interface LowerProperties {
  job: JobDetail;
  history: Shown<JobEvent[]>;
  changes: number;
}

/** What a job has that Podium runs. */
function JobLower({ job, history, changes }: LowerProperties) {
  return (
    <div class="job-lower">
      <section class="panel" aria-label="Attempts">
        <header class="panel-head">
          <h2>Attempts</h2>
        </header>
        <TimeLineView job={job} events={history.data ?? []} />
      </section>
      <Tabs
        label="Details of the job"
        param="tab"
        tabs={[
          { id: "log", title: "Log", content: () => <LogTail job={job} /> },
          { id: "tasks", title: "Tasks", content: () => <TaskTable attempt={chosenAttempt(job)} /> },
          { id: "ledger", title: "Ledger", content: () => <LedgerView job={job.id} changes={changes} /> },
          { id: "run", title: "Run", content: () => <RunView job={job} /> },
          ...(namesOutputs(job.spec)
            ? [{ id: "outputs", title: "Outputs", content: () => <OutputList job={job} /> }]
            : []),
          { id: "spec", title: "Spec", content: () => <SpecView job={job} /> },
          { id: "history", title: "History", content: () => <HistoryList history={history} /> },
        ]}
      />
    </div>
  );
}

function chosenAttempt(job: JobDetail) {
  const wanted = Number(route.value.params.get("attempt"));
  return job.attempts.find(({ number }) => number === wanted) ?? job.attempts.at(-1);
}

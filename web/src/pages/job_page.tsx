// One job: how it stands, its curves, its attempts on a time line, its tasks, log, spec and history.
import { getJob } from "../api/client";
import type { Job, JobDetail } from "../api/types";
import { HistoryList } from "../components/history_list";
import { JobCharts } from "../components/job_charts";
import { JobHeader } from "../components/job_header";
import { LogTail } from "../components/log_tail";
import { Notice } from "../components/notice";
import { SpecView } from "../components/spec_view";
import { Tabs } from "../components/tabs";
import { TaskTable } from "../components/task_table";
import { TimeLineView } from "../components/time_line_view";
import { WhyPanel } from "../components/why_panel";
import { useHistory } from "../components/use_history";
import { useInterval } from "../components/use_interval";
import { useResource } from "../components/use_resource";
import { useSeries } from "../components/use_series";
import { route } from "../state/router";
import { generation, jobs } from "../state/store";

const historyMs = 10_000;

export function JobPage({ id }: { id: number }) {
  const live = jobs.value.get(id);
  const turn = useInterval(live !== undefined && live.ended_ms === null ? historyMs : null);
  const stamp = live ? [live.state, live.attempt, live.held, live.priority, live.reason].join(" ") : "";
  const inputs = [generation.value, stamp, turn];
  const detail = useResource((signal) => getJob(id, signal), `job ${id}`, inputs);
  const history = useHistory(id, inputs);
  const series = useSeries(id);
  if (!detail.data) return <Missing id={id} notFound={detail.notFound} error={detail.error} />;
  const job = withLive(detail.data, live);
  return (
    <div class="page job-page">
      <JobHeader job={job} series={series.series} />
      {job.state === "queued" && <WhyPanel id={id} stamp={stamp} />}
      <JobCharts job={job} state={series} />
      <div class="job-lower">
        <section class="panel" aria-label="Attempts">
          <header class="panel-head">
            <h2>Attempts</h2>
          </header>
          <TimeLineView job={job} events={history.events} />
        </section>
        <Tabs
          label="Details of the job"
          param="tab"
          tabs={[
            { id: "log", title: "Log", content: () => <LogTail job={job} /> },
            { id: "tasks", title: "Tasks", content: () => <TaskTable attempt={chosenAttempt(job)} /> },
            { id: "spec", title: "Spec", content: () => <SpecView job={job} /> },
            { id: "history", title: "History", content: () => <HistoryList history={history} /> },
          ]}
        />
      </div>
    </div>
  );
}

/** The list's job is newer than the fetched one; so is the step that the attempt which runs has come to. */
function withLive(detail: JobDetail, live: Job | undefined): JobDetail {
  const job = { ...detail, ...live };
  const step = job.progress?.step ?? null;
  const attempts = detail.attempts.map((attempt) =>
    attempt.ended_ms === null && attempt.first_step !== null ? { ...attempt, last_step: step } : attempt,
  );
  return { ...job, attempts };
}

function chosenAttempt(job: JobDetail) {
  const wanted = Number(route.value.params.get("attempt"));
  return job.attempts.find(({ number }) => number === wanted) ?? job.attempts.at(-1);
}

function Missing({ id, notFound, error }: { id: number; notFound: boolean; error: string }) {
  return (
    <div class="page">
      <h1 class="visually-hidden">Job {id}</h1>
      {notFound ? (
        <Notice kind="empty" title={`There is no job ${id}`}>
          See <a href="#/jobs">all jobs</a>.
        </Notice>
      ) : error ? (
        <Notice kind="failed" title={`Job ${id} could not be loaded`}>
          {error}
        </Notice>
      ) : (
        <Notice kind="loading" title={`Loading job ${id}…`} />
      )}
    </div>
  );
}

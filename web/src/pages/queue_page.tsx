// Who waits, in the order in which they would start, with what makes the order; and who waits for something else.
import type { ComponentChildren } from "preact";
import { getQueue, operateJob } from "../api/client";
import type { JobApart, Queue, QueueOfKind } from "../api/types";
import { Notice } from "../components/notice";
import { ProblemText } from "../components/operation_dialog";
import { useOperation } from "../components/use_operation";
import { useResource } from "../components/use_resource";
import { useScheduling } from "../components/use_scheduling";
import { describeDevices } from "../model/layout";
import { formatCount } from "../model/numbers";
import { describePolicy, formatFactors, turnOf } from "../model/queue";
import { formatAbsolute, formatDuration } from "../model/times";
import { now } from "../state/clock";
import { route, setParams } from "../state/router";
import { applyJob } from "../state/store";
import { mayChange } from "../state/token";

const firstJobs = 100;
const mostJobs = 1000;

export function QueuePage() {
  const limit = route.value.params.get("all") === null ? firstJobs : mostJobs;
  const { data, error } = useResource((signal) => getQueue(limit, signal), "queue", [useScheduling(), limit]);
  return (
    <div class="page">
      <header class="job-title">
        <h1>Queue</h1>
        {data && (
          <p class="muted explanation">
            Policy {data.policy}: {describePolicy(data.policy, data.ageing_seconds, data.walltime_weight)}.
            Jobs that their account's quota covers go before all others.
          </p>
        )}
      </header>
      {data ? (
        <Queues queue={data} />
      ) : (
        <Notice
          kind={error ? "failed" : "loading"}
          title={error ? "The queue could not be loaded" : "Loading the queue…"}
        >
          {error}
        </Notice>
      )}
    </div>
  );
}

function Queues({ queue }: { queue: Queue }) {
  if (queue.queues.length === 0 && queue.apart.total === 0)
    return (
      <Notice kind="empty" title="No job waits">
        See <a href="#/jobs">all jobs</a>.
      </Notice>
    );
  return (
    <>
      {queue.queues.map((each) => (
        <QueueTable key={each.kind} queue={each} />
      ))}
      {queue.apart.total > 0 && <Apart apart={queue.apart} />}
    </>
  );
}

const countJobs = (count: number) => (count === 1 ? "1 job" : `${formatCount(count)} jobs`);

/** Of how many are shown, and a way to more. */
function More({ shown, total }: { shown: number; total: number }) {
  if (shown >= total) return null;
  return shown < mostJobs ? (
    <button type="button" class="button button-small" onClick={() => setParams({ all: "1" })}>
      Show {formatCount(Math.min(total, mostJobs))} of {formatCount(total)}
    </button>
  ) : (
    <span class="muted">the first {formatCount(shown)}</span>
  );
}

function QueueTable({ queue }: { queue: QueueOfKind }) {
  const byAccount = queue.jobs.some(({ account_factors }) => account_factors !== null);
  const ages = queue.jobs.some(({ age_points }) => age_points !== null);
  const title = `${countJobs(queue.total)} waiting for ${queue.kind} devices`;
  return (
    <section class="list-section">
      <header class="list-head">
        <h2>{title}</h2>
        <More shown={queue.jobs.length} total={queue.total} />
      </header>
      <div class="panel scroll-x" tabIndex={0} role="region" aria-label={title}>
        <table class="table cards queue">
          <thead>
            <tr>
              <th class="number">#</th>
              <th>Job</th>
              <th>{byAccount ? "Account, factor" : "Account"}</th>
              <th>Guaranteed</th>
              <th class="number">Priority</th>
              {ages && (
                <th class="number" title="What its waiting weighs in points of priority">
                  Age
                </th>
              )}
              <th class="number">Devices</th>
              <th class="number">Walltime</th>
              <th class="number">Waited</th>
              <th>Turn</th>
            </tr>
          </thead>
          <tbody>
            {queue.jobs.map((job, index) => (
              <tr key={job.job}>
                <td class="number muted position">{job.position}</td>
                <JobName job={job.job} name={job.name}>
                  {job.reason}
                </JobName>
                <AccountCell account={job.account} factors={formatFactors(job)} />
                <td data-title="Guaranteed">
                  {job.guaranteed_by === null ? (
                    <span class="muted">no</span>
                  ) : (
                    <span class="good" title={`The quota of ${job.guaranteed_by} covers it`}>
                      yes
                    </span>
                  )}
                </td>
                <td class="number" data-title="Priority">
                  {job.priority}
                </td>
                {ages && (
                  <td class="number" data-title="Age">
                    {job.age_points === null ? "–" : `+${job.age_points.toFixed(1)}`}
                  </td>
                )}
                <td class="number" data-title="Devices">
                  {describeDevices(job)}
                </td>
                <td class="number" data-title="Walltime">
                  {formatDuration(job.walltime_seconds)}
                </td>
                <Waited sinceMs={job.submitted_ms} />
                <td
                  data-title="Turn"
                  title={job.reserved_ms === null ? undefined : formatAbsolute(job.reserved_ms)}
                >
                  {turnOf(queue, index, now.value)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Its name, and why it waits. */
function JobName({ job, name, children }: { job: number; name: string; children: ComponentChildren }) {
  return (
    <th scope="row" class="job-cell">
      <span class="muted number">{job}</span> <a href={`#/jobs/${job}`}>{name}</a>
      <span class="job-why muted">{children}</span>
    </th>
  );
}

function AccountCell({ account, factors = "" }: { account: string; factors?: string }) {
  return (
    <td data-title="Account" class="account-cell">
      <a href="#/accounts">{account}</a>
      {factors && (
        <span
          class="account-factors muted number"
          title="Its usage by share in device hours, after those above it"
        >
          {factors}
        </span>
      )}
    </td>
  );
}

function Waited({ sinceMs }: { sinceMs: number }) {
  return (
    <td class="number" data-title="Waited">
      {formatDuration(Math.max(0, Math.floor((now.value - sinceMs) / 1000)))}
    </td>
  );
}

function Apart({ apart }: { apart: Queue["apart"] }) {
  return (
    <section class="list-section">
      <header class="list-head">
        <h2>{countJobs(apart.total)} held or after others</h2>
        <More shown={apart.jobs.length} total={apart.total} />
      </header>
      <div class="panel scroll-x" tabIndex={0} role="region" aria-label="Held or after others">
        <table class="table cards queue">
          <thead>
            <tr>
              <th>Job</th>
              <th>Account</th>
              <th class="number">Priority</th>
              <th class="number">Devices</th>
              <th class="number">Waited</th>
              <th>
                <span class="visually-hidden">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {apart.jobs.map((job) => (
              <ApartRow key={job.job} job={job} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function ApartRow({ job }: { job: JobApart }) {
  const release = useOperation();
  return (
    <tr>
      <JobName job={job.job} name={job.name}>
        {job.reason}
        <ProblemText operation={release} />
      </JobName>
      <AccountCell account={job.account} />
      <td class="number" data-title="Priority">
        {job.priority}
      </td>
      <td class="number" data-title="Devices">
        {describeDevices(job)} {job.kind}
      </td>
      <Waited sinceMs={job.submitted_ms} />
      <td class="row-end">
        {job.blocker === "held" && mayChange.value && (
          <button
            type="button"
            class="button button-small"
            aria-label={`Release job ${job.job}`}
            disabled={release.busy}
            onClick={() => void release.run((token) => operateJob(job.job, "release", token), applyJob)}
          >
            Release
          </button>
        )}
      </td>
    </tr>
  );
}

// For a job that repeats another: the time of the original. For a job that has ended: the times of the jobs that repeat it.
import { getJob, getJobPage } from "../api/client";
import type { Job } from "../api/types";
import { useQuery } from "../hooks/use_query";
import { compareHash } from "../model/compare_address";
import { besideText, originalOf } from "../model/reproduction";
import { jobs } from "../state/store";

export function Reproductions({ job }: { job: Job }) {
  const original = originalOf(job);
  return (
    <>
      {original !== null && <Original job={job} id={original} />}
      {job.ended_ms !== null && <Repeats job={job} />}
    </>
  );
}

function Original({ job, id }: { job: Job; id: number }) {
  const shown = useQuery<Job>(`original ${id}`, (signal) => getJob(id, signal));
  if (!shown.data) return null;
  return (
    <p class="reproduction">
      Repeats <a href={`#/jobs/${id}`}>job {id}</a>: {besideText(shown.data, job)}.{" "}
      <a href={compareHash([id, job.id])}>Compare both</a>
    </p>
  );
}

function Repeats({ job }: { job: Job }) {
  const query = { label: `reproduces:${job.id}`, limit: "20" };
  const heard = [...jobs.value.values()].filter((each) => originalOf(each) === job.id).length;
  const shown = useQuery(`repeats of ${job.id}`, (signal) => getJobPage(query, signal), [heard]);
  const repeats = (shown.data?.jobs ?? []).map((each) => jobs.value.get(each.id) ?? each);
  if (repeats.length === 0) return null;
  return (
    <>
      {repeats.map((repeat) => (
        <p key={repeat.id} class="reproduction">
          <a href={`#/jobs/${repeat.id}`}>Job {repeat.id}</a> repeats it: {besideText(job, repeat)}.{" "}
          <a href={compareHash([job.id, repeat.id])}>Compare both</a>
        </p>
      ))}
    </>
  );
}

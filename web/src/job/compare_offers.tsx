// Jobs that the reader may want to compare a job with.
import { getJobPage } from "../api/client";
import type { Job } from "../api/types";
import { useQuery } from "../hooks/use_query";
import { compareHash, mostJobs } from "../model/compare_address";

const offered = 6;

export function CompareOffers({ job }: { job: Job }) {
  const { id, experiment, name } = job;
  const shown = useQuery(`jobs to compare with ${id}`, async (signal) => {
    const ask = (query: Record<string, string>) => getJobPage({ ...query, limit: String(mostJobs) }, signal);
    const [siblings, others] = await Promise.all([ask({ experiment: String(experiment) }), ask({ name })]);
    const ids = new Set(siblings.jobs.map((each) => each.id));
    return {
      siblings: siblings.jobs,
      others: others.jobs.filter((other) => other.id !== id && other.name === name && !ids.has(other.id)),
    };
  });
  const { data } = shown;
  if (!data) return <li class="menu-text">{shown.error || "Loading…"}</li>;
  const siblings = data.siblings.filter((each) => each.id !== id);
  const all = [...new Set([id, ...data.siblings.map((each) => each.id)])]
    .slice(0, mostJobs)
    .sort((a, b) => a - b);
  return (
    <>
      {siblings.length > 1 && (
        <li>
          <a href={compareHash(all)}>All {all.length} of its experiment</a>
        </li>
      )}
      {[...siblings.slice(0, offered), ...data.others.slice(0, offered)].map((other) => (
        <li key={other.id}>
          <a href={compareHash([other.id, id])}>
            {other.id} {other.name}
          </a>
        </li>
      ))}
      <li>
        <a href={compareHash([id])}>Another…</a>
      </li>
    </>
  );
}

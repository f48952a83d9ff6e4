// Operates on many jobs: each is done or refused for itself, and a refusal keeps none of the others from being done.
import { mostOperated, operateJobs, prioritiseJob, type JobOperation } from "../api/client";
import { explain, Problem } from "../api/problem";
import type { Operated } from "../model/operations";
import { applyJob, applyJobs } from "../state/store";

export interface Together {
  done: number;
  /** Why, one a job. */
  refusals: string[];
}

/** Asked again, it goes on where it was: a token may be refused in between. */
export function operateAll(jobs: readonly Operated[], operation: JobOperation) {
  const together: Together = { done: 0, refusals: [] };
  let at = 0;
  return async (token: string): Promise<Together> => {
    while (at < jobs.length) {
      const ids = jobs.slice(at, at + mostOperated).map(({ id }) => id);
      const results = await operateJobs(ids, operation, token);
      at += ids.length;
      const changed = results.flatMap((result) => ("job" in result ? [result.job] : []));
      applyJobs(changed);
      together.done += changed.length;
      together.refusals.push(...results.flatMap((result) => ("refusal" in result ? [result.refusal] : [])));
    }
    return together;
  };
}

/** One after the other, for each has a request of its own. Of a single job the refusal is thrown. */
export function prioritiseAll(jobs: readonly Operated[], priority: number) {
  const together: Together = { done: 0, refusals: [] };
  let at = 0;
  return async (token: string): Promise<Together> => {
    for (; at < jobs.length; at += 1) {
      try {
        applyJob(await prioritiseJob(jobs[at]!.id, priority, token));
        together.done += 1;
      } catch (error) {
        if (jobs.length === 1 || !isOfOneJob(error)) throw error;
        together.refusals.push(explain(error));
      }
    }
    return together;
  };
}

/** It is gone, or its state does not allow it. */
const isOfOneJob = (error: unknown) =>
  error instanceof Problem && (error.status === 404 || error.status === 409);

// Operates on many jobs. The coordinator does or refuses each job separately, and a refusal does not stop the others.
import { mostOperated, operateJobs, prioritiseJob, type JobOperation } from "../api/client";
import { explain, Problem } from "../api/problem";
import type { Operated } from "../model/operations";
import { applyJob, applyJobs } from "../state/store";

export interface Together {
  done: number;
  /** The reasons, one for each job. */
  refusals: string[];
}

/** A second call continues where the first stopped, because a token may be refused in between. */
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

/** The jobs are changed one after the other, each by a request of its own. The refusal of a single job is thrown. */
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

/** The job is gone, or its state does not allow the operation. */
const isOfOneJob = (error: unknown) =>
  error instanceof Problem && (error.status === 404 || error.status === 409);

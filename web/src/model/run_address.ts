// The address that MLflow's clients print of a run: #/experiments/{experiment}/runs/{run id}. The second half of a run's id is
// the number of its job.

/** Null: the path is none of a run's. */
export function jobOfRunPath(path: readonly string[]): number | null {
  const [experiments, , runs, run = "", ...rest] = path;
  if (experiments !== "experiments" || runs !== "runs" || rest.length > 0) return null;
  if (!/^[0-9a-f]{32}$/.test(run)) return null;
  const job = Number.parseInt(run.slice(16), 16);
  return Number.isSafeInteger(job) && job > 0 ? job : null;
}

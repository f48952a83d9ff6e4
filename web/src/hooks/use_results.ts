// The results of the trials of a sweep. They are fetched again when a trial changes and, while one runs, at intervals.
import { getComparison } from "../api/client";
import { resultsOf, trialsAtOnce, type Result } from "../model/sweep";
import { useExperimentMoves } from "./use_experiment_states";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const liveMs = 10_000;

export function useResults(study: number, jobs: readonly number[], runs: boolean): Shown<Result[]> {
  const moves = useExperimentMoves(study);
  const turn = useInterval(runs ? liveMs : null);
  const ask = async (signal: AbortSignal) => {
    const parts = [];
    for (let from = 0; from < jobs.length; from += trialsAtOnce)
      parts.push(await getComparison(jobs.slice(from, from + trialsAtOnce), null, signal, false));
    return resultsOf(parts);
  };
  return useQuery(`results of study ${study} ${jobs.join(",")}`, ask, [moves, turn]);
}

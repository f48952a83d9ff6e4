// What came of the trials of a sweep, asked for again when one of them moves and, while one runs, every so often.
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

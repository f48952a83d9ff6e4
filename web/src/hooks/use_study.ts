// A study, and the published results. The study is fetched again when one of its jobs changes and, while one runs, at
// intervals.
import { useEffect, useState } from "preact/hooks";
import { getPublished, getStudy } from "../api/client";
import type { PublishedRow, Study } from "../api/types";
import { useExperimentMoves } from "./use_experiment_states";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const liveMs = 10_000;

export function useStudy(id: number): Shown<Study> {
  const [runs, setRuns] = useState(false);
  const moves = useExperimentMoves(id);
  const turn = useInterval(runs ? liveMs : null);
  const shown = useQuery(`study ${id}`, (signal) => getStudy(id, signal), [moves, turn]);
  const running = shown.data?.state === "running";
  useEffect(() => setRuns(running), [running]);
  return shown;
}

/** These are files in the coordinator's folder, which change at a restart at most. */
export const usePublished = (): Shown<PublishedRow[]> =>
  useQuery("published", (signal) => getPublished(signal));

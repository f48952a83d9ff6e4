// A study, asked for again when one of its jobs moves and, while one runs, every so often; and what others published.
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

/** Files of the coordinator's folder: they change with a restart at most. */
export const usePublished = (): Shown<PublishedRow[]> =>
  useQuery("published", (signal) => getPublished(signal));

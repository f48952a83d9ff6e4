// How many jobs of an experiment are in each state, while the experiment is in sight.
import { useEffect, useRef, useState } from "preact/hooks";
import { getJobPage } from "../api/client";
import type { StateCounts } from "../model/job_list";
import { cluster } from "../state/store";
import { Turns } from "../state/turns";
import { useQuery } from "./use_query";

const turns = new Turns(2);
/** An experiment that changes fast is counted no more often. */
const pauseMs = 1_000;

/** Null until the counts are known. */
export function useExperimentStates(experiment: number): StateCounts | null {
  const ask = (signal: AbortSignal) =>
    turns.take(signal, () => getJobPage({ experiment: String(experiment), limit: "1" }, signal));
  const moves = useExperimentMoves(experiment);
  return useQuery(`states of experiment ${experiment}`, ask, [moves]).data?.states ?? null;
}

/** Counts up when the stream reports a job of the experiment whose state may have changed. */
export function useExperimentMoves(experiment: number): number {
  const [moves, setMoves] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    const count = () => {
      timer.current = null;
      setMoves((old) => old + 1);
    };
    const stop = cluster.listenToJobs({
      hear: (news) => {
        if (news.some((one) => one.moved && one.experiment === experiment))
          timer.current ??= setTimeout(count, pauseMs);
      },
      reset: () => undefined,
    });
    return () => {
      stop();
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, [experiment]);
  return moves;
}

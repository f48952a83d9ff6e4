// The comparison of some jobs, asked for again when one of them moves and, while one runs, every so often.
import { useComputed } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { getComparison } from "../api/client";
import type { Comparison } from "../api/types";
import { cluster, jobs } from "../state/store";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const liveMs = 10_000;

/** How often their states have changed since all were first known. */
function useMoves(states: string, complete: boolean): number {
  const seen = useRef({ states: "", moves: 0 });
  if (complete && states !== seen.current.states)
    seen.current = { states, moves: seen.current.moves + (seen.current.states === "" ? 0 : 1) };
  return seen.current.moves;
}

export function useComparison(ids: readonly number[], base: number | null): Shown<Comparison> {
  const name = ids.join(",");
  useLayoutEffect(() => cluster.retain("page", () => ids), [name]);
  const states = useComputed(() => {
    const known = jobs.value;
    return ids.map((id) => known.get(id)?.state ?? "").join(",");
  }).value;
  const moves = useMoves(states, !states.split(",").includes(""));
  const runs = /starting|running|stopping/.test(states);
  const turn = useInterval(runs ? liveMs : null);
  const ask = async (signal: AbortSignal) => {
    const asOf = cluster.position;
    const comparison = await getComparison(ids, base, signal);
    cluster.putListed(comparison.jobs, asOf);
    return comparison;
  };
  return useQuery(`comparison ${name}`, ask, [base, moves, turn]);
}

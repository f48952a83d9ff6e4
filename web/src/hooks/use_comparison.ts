// The comparison of some jobs. It is fetched again when one of them changes and, while one runs, at intervals.
import { useEffect, useLayoutEffect } from "preact/hooks";
import { getComparison } from "../api/client";
import type { Comparison } from "../api/types";
import { cluster, jobs } from "../state/store";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const liveMs = 10_000;
const runningStates: ReadonlySet<string> = new Set(["starting", "running", "stopping"]);

export function useComparison(ids: readonly number[], base: number | null): Shown<Comparison> {
  const name = ids.join(",");
  useLayoutEffect(() => cluster.retain("page", () => ids), [name]);
  const known = jobs.value;
  const runs = ids.some((id) => runningStates.has(known.get(id)?.state ?? ""));
  const turn = useInterval(runs ? liveMs : null);
  const ask = async (signal: AbortSignal) => {
    const asOf = cluster.position;
    const comparison = await getComparison(ids, base, signal);
    cluster.putListed(comparison.jobs, asOf);
    return comparison;
  };
  const shown = useQuery(`comparison ${name}`, ask, [base, turn]);
  const compared = shown.data?.jobs ?? [];
  const then = compared.map(({ state }) => state).join(",");
  const states = compared.map(({ id, state }) => known.get(id)?.state ?? state).join(",");
  // This includes changes that arrived while the comparison was being fetched.
  useEffect(() => {
    if (states !== then) shown.retry();
  }, [states, then]);
  return shown;
}

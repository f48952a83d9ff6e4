// The record board and one of its benchmarks. They are fetched again at intervals, because a run that reaches its target
// changes only its job in the live stream.
import { getBenchmark, getBoard } from "../api/client";
import type { Benchmark, BenchmarkDetails } from "../api/types";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const refreshMs = 15_000;

export function useBoard(): Shown<Benchmark[]> {
  const turn = useInterval(refreshMs);
  return useQuery("board", (signal) => getBoard(signal), [turn]);
}

export function useBenchmark(id: string): Shown<BenchmarkDetails> {
  const turn = useInterval(refreshMs);
  return useQuery(`benchmark ${id}`, (signal) => getBenchmark(id, signal), [turn]);
}

// The record board and one benchmark of it, asked for again every so often: a run that reaches its target tells its job alone.
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

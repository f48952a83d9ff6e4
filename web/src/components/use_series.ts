// The metric series of one job: fetched once for each generation, then grown by the live stream.
import { useEffect, useState } from "preact/hooks";
import { getMetrics, getSeries } from "../api/client";
import { explain, Unreachable } from "../api/problem";
import type { LivePoint } from "../api/types";
import { readSeries, withLivePoints, type SeriesMap } from "../model/series";
import { generation, listenToPoints } from "../state/store";

const pointsAsked = 1000;

export interface SeriesState {
  series: SeriesMap | null;
  error: string;
}

export function useSeries(job: number): SeriesState {
  const [state, setState] = useState<SeriesState>({ series: null, error: "" });
  const current = generation.value;
  useEffect(() => {
    const abort = new AbortController();
    let early: LivePoint[] | null = [];
    const stopListening = listenToPoints(job, (points) => {
      if (early) early.push(...points);
      else setState((old) => ({ series: withLivePoints(old.series ?? new Map(), points), error: "" }));
    });
    fetchAll(job, abort.signal).then(
      (series) => {
        if (abort.signal.aborted) return;
        setState({ series: withLivePoints(series, early ?? []), error: "" });
        early = null;
      },
      (error: unknown) => {
        if (abort.signal.aborted || error instanceof Unreachable) return;
        setState((old) => ({ ...old, error: explain(error) }));
      },
    );
    return () => {
      abort.abort();
      stopListening();
    };
  }, [job, current]);
  return state;
}

async function fetchAll(job: number, signal: AbortSignal): Promise<SeriesMap> {
  const metrics = await getMetrics(job, signal);
  const keys = metrics.map(({ key }) => key);
  return readSeries(keys.length > 0 ? await getSeries(job, keys, pointsAsked, signal) : []);
}

// One metric of several jobs, live.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { MetricOfJobs, type ComparedSeries } from "../state/compared_series";
import type { Reading } from "../state/queries";
import { cluster } from "../state/store";
import { shownOf, useReading, type Shown } from "./use_query";

interface ShownSeries extends Shown<ComparedSeries> {
  lost: ReadonlyMap<number, number>;
}

export function useComparedSeries(jobs: readonly number[], key: string): ShownSeries {
  const name = `series ${jobs.join(",")} ${key}`;
  const series = useMemo(() => new MetricOfJobs(jobs, key), [name]);
  const latest = useRef<Reading<ComparedSeries> | null>(null);
  // It subscribes before the request, so that no point is missed.
  useLayoutEffect(() => {
    const stops = jobs.map((job) =>
      cluster.listenToPoints(job, (points) => series.hear(job, points, latest.current)),
    );
    return () => stops.forEach((stop) => stop());
  }, [series]);
  const reading = useReading(name, series.ask);
  latest.current = reading;
  return { ...shownOf(reading), lost: series.lost.value };
}

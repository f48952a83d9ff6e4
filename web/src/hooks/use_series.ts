// The metric series of one job, live.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { LostPoints, SeriesMap } from "../model/series";
import { JobSeries } from "../state/job_series";
import type { Reading } from "../state/queries";
import { cluster } from "../state/store";
import { shownOf, useReading, type Shown } from "./use_query";

export interface ShownSeries extends Shown<SeriesMap> {
  lost: LostPoints;
}

export function useSeries(job: number): ShownSeries {
  const series = useMemo(() => new JobSeries(job), [job]);
  const latest = useRef<Reading<SeriesMap> | null>(null);
  // It subscribes before the first request, so that no point is missed.
  useLayoutEffect(
    () => cluster.listenToPoints(job, (points) => series.hear(points, latest.current)),
    [job, series],
  );
  const reading = useReading(`series ${job}`, series.ask);
  latest.current = reading;
  return { ...shownOf(reading), lost: series.lost.value };
}

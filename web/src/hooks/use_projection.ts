// The forecast of when a running job reaches its target.
import { getProjection } from "../api/client";
import type { Job, Projection } from "../api/types";
import { isProjected } from "../model/progress";
import { useInterval } from "./use_interval";
import { useQuery } from "./use_query";

const liveMs = 15_000;

/** Null while there is no forecast, or it is not known yet. */
export function useProjection(job: Job | null): Projection | null {
  const wanted = job !== null && isProjected(job);
  const turn = useInterval(wanted ? liveMs : null);
  const shown = useQuery<Projection | null>(
    `projection of ${wanted ? job.id : "nothing"}`,
    async (signal) => (wanted ? getProjection(job.id, signal) : null),
    [turn],
  );
  return wanted ? shown.data : null;
}

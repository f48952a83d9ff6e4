// One job for its page: its detail, its history, and its newest state.
import { useLayoutEffect, useMemo } from "preact/hooks";
import type { JobDetail, JobEvent } from "../api/types";
import { withLive } from "../model/job_update";
import { JobInDetail } from "../state/job_detail";
import { cluster, queries } from "../state/store";
import { shownOf, type Shown } from "./use_query";

export interface JobShown extends Shown<JobDetail> {
  history: Shown<JobEvent[]>;
  /** Changes with everything that a forecast depends on. */
  changes: number;
}

export function useJob(id: number): JobShown {
  const job = useMemo(() => new JobInDetail(id, queries, cluster), [id]);
  useLayoutEffect(() => job.open(), [job]);
  const { readings } = job;
  const detail = shownOf(readings?.detail ?? null);
  return {
    ...detail,
    data: detail.data && withLive(detail.data, job.live.value),
    history: shownOf(readings?.history ?? null),
    changes: job.changes.value,
  };
}

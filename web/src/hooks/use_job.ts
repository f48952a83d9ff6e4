// One job for its page: its detail, its history, and the newest of it that anything told.
import { useComputed } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { getJob, getJobEvents } from "../api/client";
import type { JobDetail, JobEvent } from "../api/types";
import { stampOf, withLive } from "../model/job_update";
import type { Ask } from "../state/queries";
import { cluster, jobs } from "../state/store";
import { useInterval } from "./use_interval";
import { useAnswer, type Shown } from "./use_query";

const historyMs = 10_000;
/** Tasks may say more than events tell; a detail of many tasks is large. */
const detailMs = 30_000;

export interface JobShown extends Shown<JobDetail> {
  history: Shown<JobEvent[]>;
  /** Changes with whatever a forecast depends on. */
  changes: number;
}

const askForEvents =
  (id: number): Ask<JobEvent[]> =>
  async ({ before, signal }) => {
    const news = await getJobEvents(id, before?.at(-1)?.id ?? 0, signal);
    return before && news.length === 0 ? before : [...(before ?? []), ...news];
  };

const askForJob =
  (id: number): Ask<JobDetail> =>
  async ({ signal }) => {
    const detail = await getJob(id, signal);
    const { attempts: _attempts, checkpoint: _checkpoint, spec: _spec, source: _source, ...job } = detail;
    cluster.putJobs([job]);
    return detail;
  };

/** How often it has changed since it was first known. */
function useChanges(stamp: string | null): number {
  const seen = useRef({ stamp, changes: 0 });
  if (stamp !== null && stamp !== seen.current.stamp) {
    const changes = seen.current.changes + (seen.current.stamp === null ? 0 : 1);
    seen.current = { stamp, changes };
  }
  return seen.current.changes;
}

export function useJob(id: number): JobShown {
  useLayoutEffect(() => cluster.retain("page", () => [id]), [id]);
  const live = useComputed(() => jobs.value.get(id)).value;
  const changes = useChanges(live ? stampOf(live) : null);
  const over = live === undefined || live.ended_ms !== null;
  const detailTurn = useInterval(over ? null : detailMs);
  const historyTurn = useInterval(over ? null : historyMs);
  const detail = useAnswer(`job ${id}`, askForJob(id), [changes, detailTurn]);
  const history = useAnswer(`events of ${id}`, askForEvents(id), [changes, historyTurn]);
  return {
    ...detail,
    data: detail.data && withLive(detail.data, live),
    history,
    changes,
  };
}

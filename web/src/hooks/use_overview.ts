// What the start page reads. Nodes arrive by the stream; the rest is fetched again when the scheduler acts, and at
// intervals.
import { serverNow } from "../api/server_clock";
import { getJobPage, getLedger, getQueue } from "../api/client";
import type { Job, LedgerTable, Queue } from "../api/types";
import { dayMs } from "../format/times";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";
import { useScheduling } from "./use_scheduling";

const listed = 100;
const slowMs = 30_000;

export const useWaiting = (): Shown<Queue> =>
  useQuery("queue", (signal) => getQueue(listed, signal), [useScheduling()]);

export const useNewestFailed = (): Shown<Job[]> =>
  useQuery(
    "newest failed",
    async (signal) => (await getJobPage({ state: "failed", limit: String(listed) }, signal)).jobs,
    [useInterval(slowMs)],
  );

/** A row for each of the last `days` days. */
export const useLedgerDays = (days: number): Shown<LedgerTable> =>
  useQuery(
    `ledger days ${days}`,
    (signal) => getLedger({ by: "day", from_ms: String(serverNow() - (days - 1) * dayMs) }, signal),
    [useInterval(slowMs)],
  );

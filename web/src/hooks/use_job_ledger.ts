// Where a job's time went. It is fetched again when the job changes and, until the job has ended, at intervals.
import { useEffect, useState } from "preact/hooks";
import { getJobLedger } from "../api/client";
import type { JobLedger } from "../api/types";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const liveMs = 10_000;

export function useJobLedger(job: number, changes: number): Shown<JobLedger> {
  const [final, setFinal] = useState(false);
  const turn = useInterval(final ? null : liveMs);
  const shown = useQuery(`ledger of ${job}`, (signal) => getJobLedger(job, signal), [changes, turn]);
  const known = shown.data?.final ?? false;
  useEffect(() => setFinal(known), [known]);
  return shown;
}

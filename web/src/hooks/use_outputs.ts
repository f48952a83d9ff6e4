// The outputs of a job. They come a moment after its end, so they are asked for at intervals until all are there.
import { useState } from "preact/hooks";
import { getOutputs } from "../api/client";
import type { JobDetail, JobOutputs } from "../api/types";
import { isComplete } from "../model/outputs";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const lookMs = 10_000;

export function useOutputs(job: JobDetail): Shown<JobOutputs> {
  const [complete, setComplete] = useState(false);
  const ended = job.ended_ms !== null;
  const turns = useInterval(ended && complete ? null : lookMs);
  const fetch = async (signal: AbortSignal) => {
    const list = await getOutputs(job.id, signal);
    setComplete(isComplete(list));
    return list;
  };
  return useQuery(`outputs of ${job.id}`, fetch, [job.revision, turns]);
}

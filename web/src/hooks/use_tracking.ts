// What MLflow's clients have logged of a job. It is fetched again when the job changes and, until it has ended, at intervals.
import { getArtifacts, getTracking } from "../api/client";
import type { ArtifactEntry, JobDetail, Tracking } from "../api/types";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

const liveMs = 10_000;

const useTurns = (job: JobDetail) => useInterval(job.ended_ms === null ? liveMs : null);

export const useTracking = (job: JobDetail): Shown<Tracking> =>
  useQuery(`tracking of ${job.id}`, (signal) => getTracking(job.id, signal), [job.revision, useTurns(job)]);

export const useArtifacts = (job: JobDetail, folder: string): Shown<ArtifactEntry[]> =>
  useQuery(`artifacts of ${job.id} ${folder}`, (signal) => getArtifacts(job.id, folder, signal), [
    job.revision,
    useTurns(job),
  ]);

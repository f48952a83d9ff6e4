// A coordinator's answer about a waiting job: everything that the dashboard can show of it, with long texts.
import type { Job, Why } from "../../../web/src/api/types";

const minute = 60_000;
/** Rounded, so that the page stays the same for half a minute. */
const late = 30_000;

export function whyOf(job: Job, nowMs: number): Why {
  if (job.state !== "queued")
    return { job: job.id, state: job.state, now_ms: nowMs, blockers: [], start: null, sooner: [] };
  const none = { needs: 0, has: 0, per_node: 0, job: null, nodes: [], until_ms: null, accounts: {} };
  return {
    job: job.id,
    state: job.state,
    now_ms: nowMs,
    blockers: [
      { ...none, code: "devices", sentence: job.reason, needs: 4, has: 3, per_node: 8 },
      {
        ...none,
        code: "running",
        sentence: "job 12 on dgx-04, dgx-05, dgx-06 and 5 more holds 64 gpu devices and ends within 2h10m",
        has: 64,
        job: 12,
        nodes: ["dgx-04"],
        until_ms: nowMs + 130 * minute + late,
      },
      { ...none, code: "unavailable", sentence: "8 gpu devices cannot be used: dgx-07 is not up", has: 8 },
      {
        ...none,
        code: "queue",
        sentence: "3 jobs go before it: 2 of account nlp and 1 of cv, job 7 first",
        has: 3,
        job: 7,
        accounts: { nlp: 2, cv: 1 },
      },
    ],
    start: {
      earliest_ms: nowMs + 26 * minute + late,
      expected_ms: nowMs + 78 * minute + late,
      latest_ms: nowMs + 130 * minute + late,
      reserved_ms: nowMs + 130 * minute + late,
      not_before_ms: null,
      note: "",
      basis: { expected_share: 0.6, earliest_share: 0.2, ended_jobs: 200, jobs_with_pace: 2 },
    },
    sooner: [
      {
        change: "devices",
        set: { "resources.devices": 24, "resources.per_node": 8 },
        expected_ms: nowMs,
        backfill: false,
        anew: true,
        sentence: "submitted again with 3 nodes of 8 devices: at once",
      },
      {
        change: "walltime",
        set: { "resources.walltime": "2h" },
        expected_ms: nowMs,
        backfill: true,
        anew: true,
        sentence: "submitted again with a walltime of 2h or less: at once, by backfill",
      },
    ],
  };
}

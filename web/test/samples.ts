// Sample values: a running job, and one of its attempts.
import type { Attempt, Job } from "../src/api/types";

export const noRestarts = {
  failures: 0,
  requeues: 0,
  moves: 0,
  node_losses: 0,
  preemptions: 0,
  resizes: 0,
  promotions: 0,
};

export function job(changes: Partial<Job> = {}): Job {
  return {
    id: 12,
    revision: 1,
    experiment: 3,
    name: "quickstart",
    tracked: false,
    state: "running",
    priority: 50,
    account: "default",
    held: false,
    labels: {},
    devices: 2,
    sizes: [],
    per_node: 1,
    kind: "cpu",
    walltime_seconds: 3600,
    max_restarts: 5,
    command: false,
    submitted_ms: 1_000_000,
    started_ms: 1_001_000,
    ended_ms: null,
    attempt: 1,
    elapsed_seconds: 60,
    ran_seconds: 0,
    running_since_ms: 1_001_000,
    restarts: 0,
    restart_counts: noRestarts,
    restarts_used: 0,
    reason: "",
    progress: { step: 120, steps: 2000, updated_ms: 1_061_000 },
    latest: { "train/loss": 5.1 },
    target: null,
    time_to_train_seconds: null,
    ...changes,
  };
}

export function attempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    number: 1,
    created_ms: 1_000_500,
    started_ms: 1_001_000,
    ended_ms: null,
    end: null,
    reason: "",
    first_step: 0,
    last_step: 120,
    tasks: [],
    ...changes,
  };
}

// A run that a program elsewhere logged over MLflow's API, and what was logged of every job.
import type { ArtifactEntry, Job, TrackedText, Tracking } from "../../../web/src/api/types";
import type { Cluster } from "./cluster";

export const trackedJob = 2;

/** Makes one of the old jobs a tracked run that ended. */
export function trackOne({ jobs }: Cluster, nowMs: number): void {
  const job = jobs.get(trackedJob);
  if (!job) return;
  const startedMs = job.submitted_ms;
  jobs.set(trackedJob, {
    ...job,
    ...{ name: "laptop-finetune", tracked: true, state: "succeeded", held: false, reason: "" },
    ...{ devices: 0, sizes: [], per_node: 0, kind: "", walltime_seconds: 0, max_restarts: 0 },
    ...{ started_ms: startedMs, ended_ms: Math.min(nowMs - 1000, startedMs + 1_800_000) },
    ...{ attempt: 0, restarts: 0, restarts_used: 0, elapsed_seconds: 1800, ran_seconds: 1800 },
    ...{ running_since_ms: null, target: null, time_to_train_seconds: null },
    progress: { step: 900, steps: 0, updated_ms: startedMs + 1_800_000 },
    labels: { "mlflow.user": "mei", stage: "dev" },
  } satisfies Job);
}

/** Its curves are those of a job with one attempt on one device. */
export const asScheduled = (job: Job): Job => ({
  ...job,
  ...{ tracked: false, attempt: 1, devices: 1, progress: job.progress && { ...job.progress, steps: 1000 } },
});

const text = (key: string, value: string, submitted = false): TrackedText => ({ key, value, submitted });

export function trackingOf(job: Job): Tracking {
  const run = `0123456789abcdef${job.id.toString(16).padStart(16, "0")}`;
  return {
    run_id: run,
    experiment_id: String(job.experiment),
    user: job.tracked ? "mei" : job.account,
    artifacts: `${job.experiment}/${run}/artifacts`,
    params: job.tracked
      ? [
          text("dropout", "0.1"),
          text("learning_rate", "3e-05"),
          text(
            "tokenizer",
            `{"model_max_length": 512, "special": ["[CLS]", "[SEP]"], "path": "${"corpus/".repeat(12)}"}`,
          ),
        ]
      : [text("model.family", "bert", true), text("seed", "7")],
    tags: job.tracked
      ? [text("mlflow.runName", job.name), text("mlflow.user", "mei"), text("stage", "dev")]
      : [text("podium.job", String(job.id), true)],
  };
}

const folders: Record<string, ArtifactEntry[]> = {
  "": [
    { name: "model", folder: true, bytes: 0 },
    { name: "confusion matrix.png", folder: false, bytes: 48_213 },
    { name: "notes.md", folder: false, bytes: 812 },
  ],
  model: [
    { name: "data", folder: true, bytes: 0 },
    { name: "MLmodel", folder: false, bytes: 512 },
  ],
  "model/data": [{ name: "weights.safetensors", folder: false, bytes: 438_112_256 }],
};

export const artifactsOf = (job: Job, path: string): ArtifactEntry[] =>
  job.tracked ? (folders[path] ?? []) : [];

// The job of screenshots and most tests: a run like that of the quick start, restarted twice, nearly at its target.
import type { Attempt, Job, JobDetail, JobEvent } from "../../../web/src/api/types";
import { makeSeries } from "./curves";
import { countsOf, makeTasks, sampleSpec, type Cluster } from "./cluster";

export const quickstartExperiment = 9000;

export function addQuickstart(cluster: Cluster, id: number, nowMs: number): void {
  const startedMs = nowMs - 238_000;
  const job: Job = {
    id,
    revision: 0,
    experiment: quickstartExperiment,
    name: "quickstart",
    tracked: false,
    state: "running",
    priority: 50,
    account: "default",
    held: false,
    labels: { team: "nlp" },
    devices: 2,
    sizes: [],
    per_node: 1,
    kind: "cpu",
    walltime_seconds: 3600,
    max_restarts: 5,
    command: false,
    submitted_ms: startedMs - 1800,
    started_ms: startedMs,
    ended_ms: null,
    attempt: 3,
    elapsed_seconds: 238,
    ran_seconds: 0,
    running_since_ms: startedMs,
    restarts: 2,
    restart_counts: countsOf(2),
    restarts_used: 2,
    reason: "",
    progress: { step: 1240, steps: 2000, updated_ms: nowMs },
    latest: { "train/loss": 4.93, "train/sequences_per_second": 495 },
    target: {
      metric: "eval/gain_over_unigram",
      at_least: 1.9,
      latest: 1.34,
      best: 1.35,
      reached_ms: null,
      reached_step: null,
    },
    time_to_train_seconds: null,
  };
  cluster.jobs.set(id, withLatest(job));
  cluster.experiments.set(quickstartExperiment, {
    id: quickstartExperiment,
    name: "quickstart",
    created_ms: job.submitted_ms,
    source: {
      repository: "https://git.example.org/nlp/experiments.git",
      commit: "3f9c1e7a5b2d4086c1e9f7a3b5d20846a1c3e5f7",
      path: "configs/quickstart.yaml",
      dirty: true,
    },
    file: "quickstart.yaml",
    spec: sampleSpec,
    jobs: [id],
  });
}

/** The figures of the job are the last points of its curves. */
function withLatest(job: Job): Job {
  const series = makeSeries({
    ...{
      ...job,
      attempts: attemptsOf(job),
      checkpoint: null,
      spec: {},
      source: null,
      text: null,
      origin: null,
      best_checkpoint: null,
    },
  });
  const latest = Object.fromEntries(series.map(({ key, points }) => [key, points.at(-1)![2]]));
  const gains =
    series.find(({ key }) => key === job.target?.metric)?.points.map(([, , value]) => Number(value)) ?? [];
  const target = job.target && {
    ...job.target,
    latest: gains.at(-1) ?? null,
    best: gains.length > 0 ? Math.max(...gains) : null,
  };
  return { ...job, latest, target };
}

export function detailOf(job: Job, cluster: Cluster): JobDetail {
  return {
    ...job,
    attempts: attemptsOf(job),
    checkpoint: null,
    source: cluster.experiments.get(job.experiment)?.source ?? null,
    spec: job.tracked ? {} : normalised(job),
    text: job.started_ms === null ? null : { tokens: 812_344, sentences: 31_021, xxh3: "5b1c0f2ad6e97c43" },
    origin: null,
    best_checkpoint: null,
  };
}

function attemptsOf(job: Job): Attempt[] {
  if (job.started_ms === null || job.tracked) return [];
  const step = job.progress?.step ?? 0;
  const end = job.ended_ms ?? job.progress?.updated_ms ?? job.started_ms;
  const count = Math.max(1, job.attempt);
  const span = (end - job.started_ms) / count;
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const last = number === count;
    const created = Math.round(job.started_ms! + index * span + (index === 0 ? 0 : span * 0.05));
    const reached = Math.floor((step * number) / count / 10) * 10;
    const firstStep = index === 0 ? 0 : Math.floor((step * index) / count / 100) * 100;
    return {
      number,
      created_ms: created,
      started_ms: created + Math.round(span * 0.04),
      ended_ms: last ? job.ended_ms : Math.round(job.started_ms! + number * span),
      end: last ? endOf(job) : number % 2 === 1 ? "failed" : "preempted",
      reason: last
        ? ""
        : number % 2 === 1
          ? "rank 1 on node-2 was killed by signal 9; the gang starts again from step " + String(firstStep)
          : "made room for a job of higher priority",
      first_step: firstStep,
      last_step: last ? step : reached,
      tasks: makeTasks(job, number),
    };
  });
}

function endOf(job: Job): Attempt["end"] {
  if (job.state === "succeeded" || job.state === "failed" || job.state === "cancelled") return job.state;
  return null;
}

export function eventsOf(job: Job): JobEvent[] {
  const events: JobEvent[] = [];
  const add = (timeMs: number, type: string, text: string, level: JobEvent["level"] = "info") => {
    events.push({ id: events.length + 1, time_ms: timeMs, type, text, level });
  };
  add(job.submitted_ms, "job_submitted", `submitted as job ${job.id}`);
  for (const attempt of attemptsOf(job)) {
    const started = attempt.started_ms ?? attempt.created_ms;
    const end = attempt.ended_ms ?? job.progress?.updated_ms ?? started;
    add(
      attempt.created_ms,
      "attempt_created",
      `attempt ${attempt.number} on ${attempt.tasks.length} devices`,
    );
    add(started, "attempt_started", `all ${attempt.tasks.length} processes are running`);
    const first = attempt.first_step ?? 0;
    const last = attempt.last_step ?? 0;
    const steps = Math.max(1, last - first);
    for (let step = first + 100; step <= last; step += 100) {
      const at = Math.round(started + ((step - first) / steps) * (end - started));
      add(at, "checkpoint_saved", `step-${String(step).padStart(8, "0")}, 4.1 MiB in 38 ms`);
    }
    if (attempt.ended_ms !== null)
      add(attempt.ended_ms, "attempt_ended", `${attempt.end}: ${attempt.reason || "all processes left"}`);
  }
  return events;
}

export function logOf(job: Job, rank: number, lines: number): string {
  const text: string[] = [`[info] rank ${rank} of ${job.devices}: joined, ${job.name}, precision bf16`];
  for (let index = 1; index <= lines; index += 1) {
    const step = index * 10;
    text.push(
      `[info] step ${step}: loss ${(7.6 * Math.exp(-index / 80) + 4.4).toFixed(4)}, 495.2 sequences/s`,
    );
    if (step % 100 === 0)
      text.push(`[info] checkpoint step-${String(step).padStart(8, "0")} is whole (4.1 MiB, 38 ms)`);
  }
  return `${text.join("\n")}\n`;
}

function normalised(job: Job): JobDetail["spec"] {
  return {
    version: 1,
    name: job.name,
    labels: job.labels,
    model: { family: "bert", layers: 2, hidden: 128, heads: 2, intermediate: 512, dropout: 0.1 },
    data: { train: ["corpus/train.txt"], tokenizer: { wordpiece: "corpus/vocab.txt", lowercase: true } },
    training: {
      task: "pretrain",
      precision: "bf16",
      optimizer: {
        name: "adamw",
        lr: 0.001,
        weight_decay: 0.01,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-6,
        clip: 1,
      },
      schedule: { steps: job.progress?.steps ?? 2000, warmup: 0.05, decay: "linear", power: 1, min_lr: 0 },
      batch: { global: 64, micro: 32 },
      sequence_length: 64,
      seed: 1,
    },
    resources: { devices: job.devices, per_node: job.per_node, kind: job.kind, walltime: "1h" },
    checkpoint: { every: "200 steps", keep: 3 },
    target: job.target && { metric: job.target.metric, at_least: job.target.at_least },
    priority: job.priority,
  };
}

// A generated cluster: nodes, experiments and jobs that look like a research group's week. All from one seed.
import type { ExperimentDetail, Job, JobState, Node, Task } from "../../../web/src/api/types";
import { Random } from "./random";

export interface Cluster {
  jobs: Map<number, Job>;
  nodes: Map<string, Node>;
  experiments: Map<number, ExperimentDetail>;
}

interface Recipe {
  name: string;
  steps: number;
  devices: number[];
  loss: [number, number];
  pace: number;
  target: { metric: string; at_least: number } | null;
}

const recipes: Recipe[] = [
  {
    name: "bert-large-phase1",
    steps: 7038,
    devices: [16, 32, 64],
    loss: [9.6, 1.45],
    pace: 118,
    target: { metric: "eval/mlm_accuracy", at_least: 0.72 },
  },
  { name: "bert-large-phase2", steps: 1563, devices: [16, 32], loss: [1.9, 1.31], pace: 34, target: null },
  { name: "bert-base-wiki", steps: 125_000, devices: [8, 16], loss: [9.8, 1.62], pace: 395, target: null },
  {
    name: "bert-mini-kjv",
    steps: 2000,
    devices: [1, 2, 4],
    loss: [7.7, 4.4],
    pace: 310,
    target: { metric: "eval/gain_over_unigram", at_least: 0.4 },
  },
  { name: "gpt-1.3b-tp8", steps: 50_000, devices: [8, 32, 64], loss: [10.8, 2.61], pace: 21, target: null },
  { name: "gpt-345m-owt", steps: 100_000, devices: [4, 8], loss: [10.9, 2.95], pace: 47, target: null },
  {
    name: "squad-v1-bert-base",
    steps: 5533,
    devices: [1, 4],
    loss: [5.9, 0.81],
    pace: 82,
    target: { metric: "eval/f1", at_least: 0.885 },
  },
  {
    name: "mnli-bert-base",
    steps: 36_816,
    devices: [1, 2],
    loss: [1.1, 0.32],
    pace: 160,
    target: { metric: "eval/accuracy", at_least: 0.84 },
  },
];

const accounts = ["nlp/bert", "nlp/gpt", "speech", "vision/diffusion-and-video-models"];
const shortages = [
  "waiting: needs 16 free gpu devices on nodes that are up, 11 are free",
  "waiting: needs 64 free gpu devices on nodes that are up, 11 are free",
  "waiting: 3 jobs of higher priority are ahead of it",
];
const failures = [
  "rank 3 on node-17 exited with 75: loss is not finite at step 4,120; lower the learning rate or use bf16",
  "rank 0 on node-2 exited with 66: cannot read corpus/wiki-17.txt: no such file",
  "5 restarts used up: node-41 was lost 6 times",
];

export function makeCluster(jobCount: number, nodeCount: number, nowMs: number): Cluster {
  const random = new Random(20_231);
  const jobs = new Map<number, Job>();
  const experiments = new Map<number, ExperimentDetail>();
  for (let id = 1; id <= jobCount; id += 1) {
    const job = makeJob(random, id, jobCount, nowMs);
    jobs.set(id, job);
    const experiment = experiments.get(job.experiment) ?? makeExperiment(job);
    experiment.jobs.push(id);
    experiments.set(job.experiment, experiment);
  }
  return { jobs, nodes: makeNodes(random, nodeCount, [...jobs.values()], nowMs), experiments };
}

function makeJob(random: Random, id: number, jobCount: number, nowMs: number): Job {
  const recipe = random.pick(recipes);
  const age = (jobCount - id) / jobCount;
  const state = stateFor(random, age);
  const submitted = nowMs - Math.round(age * 6 * 86_400_000 + random.between(30_000, 400_000));
  const waited = random.integer(800, 90_000);
  const started = state === "queued" ? null : Math.min(nowMs - 2000, submitted + waited);
  const over = state === "succeeded" || state === "failed" || state === "cancelled";
  const seconds = random.integer(180, 20_000);
  const ended = over ? Math.min(nowMs - 1000, (started ?? submitted) + seconds * 1000) : null;
  const fraction =
    state === "succeeded" ? 1 : state === "queued" || state === "starting" ? 0 : random.between(0.02, 0.97);
  const step = Math.floor((recipe.steps * fraction) / 10) * 10;
  const restarts = random.next() < 0.15 ? random.integer(1, 3) : 0;
  const reached = state === "succeeded" && recipe.target !== null;
  const value = recipe.target ? recipe.target.at_least * (reached ? 1.01 : 0.3 + 0.68 * fraction) : 0;
  const devices = random.pick(recipe.devices);
  const account = accounts[id % accounts.length]!;
  const held = state === "queued" && id % 4 === 1;
  const ran = started === null || ended === null ? 0 : (ended - started) / 1000;
  return {
    id,
    revision: 0,
    experiment: Math.ceil(id / 3),
    name: `${recipe.name}${id % 3 === 0 ? "" : `-s${id % 3}`}`,
    tracked: false,
    state,
    priority: random.pick([50, 50, 50, 20, 80]),
    account,
    held,
    labels: {
      team: random.pick(["nlp", "speech", "search", "infra"]),
      ...(id % 7 === 0 ? { owner: random.pick(["mei", "anna", "tomas"]) } : {}),
    },
    devices,
    sizes: [],
    per_node: Math.min(8, devices),
    kind: "gpu",
    walltime_seconds: 259_200,
    max_restarts: 5,
    command: false,
    submitted_ms: submitted,
    started_ms: started,
    ended_ms: ended,
    attempt: started === null ? 0 : 1 + restarts,
    elapsed_seconds: started !== null && ended === null ? (nowMs - started) / 1000 : ran,
    ran_seconds: ran,
    running_since_ms: ended === null ? started : null,
    restarts: started === null ? 0 : restarts,
    restart_counts: countsOf(started === null ? 0 : restarts),
    restarts_used: started === null ? 0 : restarts,
    reason:
      state === "queued" ? whyWaiting(random, id, held) : state === "failed" ? random.pick(failures) : "",
    progress: started === null ? null : { step, steps: recipe.steps, updated_ms: ended ?? nowMs },
    latest:
      step > 0
        ? {
            "train/loss": recipe.loss[1] + (recipe.loss[0] - recipe.loss[1]) * Math.exp(-fraction * 5),
            "train/sequences_per_second": recipe.pace * devices ** 0.94 * random.between(0.96, 1.03),
          }
        : {},
    target: recipe.target && {
      ...recipe.target,
      latest: step > 0 ? value : null,
      best: step > 0 ? value : null,
      reached_ms: reached ? ended : null,
      reached_step: reached ? step : null,
    },
    time_to_train_seconds:
      state === "succeeded" && started !== null && ended !== null ? (ended - started) / 1000 : null,
  };
}

/** All of them have the same reason. */
export const countsOf = (failures: number) => ({
  ...{ failures, requeues: 0, moves: 0, node_losses: 0, preemptions: 0, resizes: 0, promotions: 0 },
});

function whyWaiting(random: Random, id: number, held: boolean): string {
  const shortage = random.pick(shortages);
  if (held) return `is held; podium release ${id} lets it start`;
  return id % 7 === 0 ? `waits for job ${id - 1} to succeed` : shortage;
}

function stateFor(random: Random, age: number): JobState {
  const draw = random.next();
  if (age < 0.02) return draw < 0.55 ? "queued" : draw < 0.6 ? "starting" : "running";
  if (age < 0.06) return draw < 0.55 ? "running" : draw < 0.58 ? "stopping" : "succeeded";
  return draw < 0.78 ? "succeeded" : draw < 0.9 ? "failed" : "cancelled";
}

export const sampleSpec = `# BERT on the King James Bible, small enough for two CPU cores.
version: 1
name: quickstart
labels: {team: nlp}
model: {family: bert, layers: 2, hidden: 128, heads: 2}
data: {train: "corpus/train.txt", tokenizer: {wordpiece: corpus/vocab.txt}}
training:
  task: pretrain
  precision: bf16
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {warmup: 0.05, decay: linear, steps: 2000}
  batch: {global: 64, micro: 32}
  sequence_length: 64
resources: {devices: 2, per_node: 1, kind: cpu, walltime: 1h}
checkpoint: {every: 200 steps, keep: 3}
evaluate: {every: 50 steps, data: corpus/heldout.txt}
target: {metric: eval/gain_over_unigram, at_least: 0.4}
`;

function makeExperiment(job: Job): ExperimentDetail {
  return {
    id: job.experiment,
    name: job.name.replace(/-s\d$/, ""),
    created_ms: job.submitted_ms,
    source:
      job.experiment % 4 === 0
        ? null
        : {
            repository: "git@git.example.org:nlp/experiments.git",
            commit: "3f9c1e7a5b2d4086c1e9f7a3b5d20846a1c3e5f7",
            path: `specs/${job.name}.yaml`,
            dirty: job.experiment % 5 === 0,
          },
    file: `${job.name}.yaml`,
    spec: sampleSpec,
    jobs: [],
  };
}

function makeNodes(random: Random, count: number, jobs: Job[], nowMs: number): Map<string, Node> {
  const running = jobs.filter((job) => job.state === "running" || job.state === "starting");
  const holders = running.flatMap((job) => new Array<number>(job.devices).fill(job.id));
  const nodes = new Map<string, Node>();
  for (let number = 1; number <= count; number += 1) {
    const draw = random.next();
    const state = number === 5 ? "lost" : number === 9 || draw > 0.99 ? "unknown" : "up";
    const id = `node-${number}`;
    nodes.set(id, {
      id,
      revision: 0,
      address: `10.4.${number >> 8}.${number & 255}`,
      state,
      agent_version: "0.1.0",
      labels: {
        rack: `r${Math.ceil(number / 8)}`,
        zone: number % 2 ? "a" : "b",
        ...(number % 4 === 0 ? { partition: "nlp" } : {}),
      },
      operator_labels: number % 4 === 0 ? { partition: "nlp" } : {},
      reservation:
        number === 13
          ? { account: "nlp", reason: "deadline", from_ms: null, until_ms: nowMs + 86_400_000 }
          : null,
      drain: number === 11 ? { reason: "new fans", from_ms: null, until_ms: null } : null,
      last_seen_ms: nowMs - (state === "up" ? random.integer(200, 9000) : random.integer(40_000, 900_000)),
      clock:
        state === "lost"
          ? null
          : { ahead_ms: number === 12 ? -3_600_000 : 2, round_trip_ms: 3, off: number === 12 },
      unknown:
        number === 10 ? { tasks: [{ job: 9_990, attempt: 2, rank: 0 }], cluster: null, adopted: null } : null,
      devices: Array.from({ length: 8 }, (_, index) => ({
        index,
        kind: "gpu",
        model: "NVIDIA H100 80GB",
        memory_bytes: 85_899_345_920,
        threads: 12,
        artificial: false,
        health: number === 7 && index === 2 ? "XID 79: the GPU has fallen off the bus" : "",
        job: state === "lost" || random.next() < 0.14 ? null : (holders.shift() ?? null),
      })),
    });
  }
  return nodes;
}

/** The tasks of a job's attempt, one for each device, eight on a node. */
export function makeTasks(job: Job, attempt: number): Task[] {
  const over = attempt < job.attempt || job.ended_ms !== null;
  return Array.from({ length: job.devices }, (_, rank) => ({
    rank,
    node: `node-${1 + Math.floor(rank / Math.max(1, job.per_node))}`,
    device: rank % Math.max(1, job.per_node),
    devices: [rank % Math.max(1, job.per_node)],
    state: over ? "exited" : "running",
    pid: 41_000 + attempt * 100 + rank,
    exit: over ? { code: 0, signal: attempt < job.attempt ? 9 : 0, message: "", cause: "program" } : null,
  }));
}

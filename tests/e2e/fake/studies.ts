// Studies of the fake coordinator: sizes of one training, some of which have ended; the same on CPU slots; and a sweep of
// two parameters. Their figures come from the curves of the jobs.
import { readFileSync, readdirSync } from "node:fs";
import { parse } from "yaml";
import type {
  Job,
  PublishedRow,
  ScalingRow,
  ScalingTable,
  Study,
  StudyFields,
} from "../../../web/src/api/types";
import { addTrials, ashaOf, ashaStudy, ashaSweep, trialOf } from "./asha";
import { noSuch, ok, pageOf, Refusal, type Answer, type Query } from "./call";
import { countsOf, sampleSpec, type Cluster } from "./cluster";
import { makeSeries } from "./curves";
import { detailOf } from "./quickstart";
import type { FakeCoordinator } from "./server";

export const scalingStudy = 9100;
export const slotStudy = 9101;
export const sweepStudy = 9200;

interface Shape {
  name: string;
  scaling: StudyFields["scaling"];
  sweep: StudyFields["sweep"];
  kind: "gpu" | "cpu";
  samplesAStep(devices: number): number;
}

const steps = 2000;
const lrs = [3e-4, 1e-3, 3e-3, 1e-2];
const batches = [32, 64, 128];

const shapes: Record<number, Shape> = {
  [scalingStudy]: {
    name: "bert-large-scaling",
    scaling: { devices: [8, 16, 32, 64, 128, 256], mode: "strong", repeat: 2, together: false },
    sweep: null,
    kind: "gpu",
    samplesAStep: () => 4096,
  },
  [slotStudy]: {
    name: "bert-mini-on-slots",
    scaling: { devices: [1, 2, 4], mode: "weak", repeat: 1, together: true },
    sweep: null,
    kind: "cpu",
    samplesAStep: (devices) => 32 * devices,
  },
  [sweepStudy]: {
    name: "bert-mini-sweep",
    scaling: null,
    sweep: { "training.optimizer.lr": lrs, "training.batch.global": batches },
    kind: "gpu",
    samplesAStep: () => 64,
  },
};

shapes[ashaStudy] = {
  ...{ name: "bert-mini-asha", scaling: null, sweep: ashaSweep, kind: "cpu" },
  samplesAStep: () => 64,
};

/** Jobs without parameters differ only in their seed. */
const plain: Shape = {
  name: "",
  scaling: null,
  sweep: { "training.seed": [1, 2, 3] },
  kind: "gpu",
  samplesAStep: () => 64,
};

const shapeOf = (id: number) => shapes[id] ?? plain;

export function addStudies(cluster: Cluster, firstJob: number, nowMs: number): void {
  let next = firstJob;
  const add = (study: number, changes: Partial<Job>) => {
    const experiment = cluster.experiments.get(study) ?? makeExperiment(study, nowMs);
    cluster.experiments.set(study, experiment);
    experiment.jobs.push(next);
    cluster.jobs.set(next, makeMember(next, study, nowMs, changes));
    next += 1;
  };
  for (const devices of [8, 8, 16, 16, 32, 32])
    add(scalingStudy, { devices, state: "succeeded", restarts: devices === 32 && next % 2 === 0 ? 1 : 0 });
  add(scalingStudy, { devices: 64, state: "running" });
  add(scalingStudy, { devices: 64, state: "queued", reason: "waits for a job of the study to end" });
  for (const state of ["failed", "cancelled"] as const)
    add(scalingStudy, { devices: 128, state, reason: "rank 96 on node-13 exited with 71: out of memory" });
  for (const _ of [1, 2])
    add(scalingStudy, { devices: 256, state: "queued", reason: "256 gpu devices, 160 are there" });
  for (const devices of [1, 2, 4]) add(slotStudy, { devices, state: "succeeded" });
  for (const lr of lrs)
    for (const batch of batches) {
      const labels = { lr: String(lr), batch: String(batch) };
      const state =
        lr === 1e-2 && batch === 128 ? "failed" : lr === 1e-2 && batch === 64 ? "running" : "succeeded";
      const reason =
        state === "failed" ? "rank 0 on node-3 exited with 75: loss is not finite at step 310" : "";
      add(sweepStudy, { devices: 4, state, labels, reason });
    }
  addTrials((changes) => add(ashaStudy, changes));
}

const makeExperiment = (id: number, nowMs: number) => ({
  id,
  name: shapeOf(id).name,
  created_ms: nowMs - 30 * 3_600_000,
  source: null,
  file: `${shapeOf(id).name}.yaml`,
  spec: sampleSpec,
  jobs: [] as number[],
});

/** The seconds of all steps at the pace of the curves, and a tenth for everything else. */
const secondsOf = (study: number, devices: number, id: number) =>
  (1.1 + 0.02 * (id % 3)) * ((steps * shapeOf(study).samplesAStep(devices)) / (260 * devices ** 0.93));

function makeMember(id: number, study: number, nowMs: number, changes: Partial<Job>): Job {
  const { kind, name } = shapeOf(study);
  const devices = changes.devices ?? 1;
  const state = changes.state ?? "queued";
  const started = state === "queued" ? null : nowMs - 26 * 3_600_000;
  const seconds = secondsOf(study, devices, id);
  const share = { running: 0.4, failed: 0.15, cancelled: 0.2 }[state as string] ?? 1;
  const over = started !== null && state !== "running";
  const start = state === "running" ? nowMs - share * seconds * 1000 : started;
  const end = over ? start! + share * seconds * 1000 : null;
  const step = started === null ? 0 : Math.floor((share * steps) / 50) * 50;
  const restarts = changes.restarts ?? 0;
  const job: Job = {
    ...{
      id,
      revision: 0,
      experiment: study,
      name: `${name}-${devices}`,
      state,
      priority: 50,
      tracked: false,
    },
    ...{
      account: "nlp/bert",
      held: false,
      labels: {},
      devices,
      sizes: [],
      per_node: Math.min(8, devices),
      kind,
    },
    ...{ walltime_seconds: 259_200, max_restarts: 5, command: false, submitted_ms: nowMs - 27 * 3_600_000 },
    started_ms: start === null ? null : Math.round(start),
    ended_ms: end === null ? null : Math.round(end),
    attempt: started === null ? 0 : 1 + restarts,
    elapsed_seconds: started === null ? 0 : share * seconds,
    ran_seconds: over ? share * seconds : 0,
    running_since_ms: over || start === null ? null : Math.round(start),
    ...{ restarts, restart_counts: countsOf(restarts), restarts_used: restarts, reason: "" },
    progress: started === null ? null : { step, steps, updated_ms: Math.round(end ?? nowMs) },
    latest: {},
    target: null,
    time_to_train_seconds: state === "succeeded" ? seconds : null,
    ...changes,
  };
  if (state === "queued" && job.reason === "") job.reason = "waits for its turn";
  return job;
}

const median = (values: readonly number[]) => quantile(values, 0.5);

/** Interpolates linearly between neighbours. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

function steadyRate(jobs: readonly Job[], cluster: Cluster, key: string): ScalingRow["samples_per_second"] {
  const values = jobs.flatMap((job) => {
    const points = makeSeries(detailOf(job, cluster)).find((series) => series.key === key)?.points ?? [];
    const last = points.at(-1)?.[0] ?? 0;
    return points.filter(([step]) => step * 10 > last).map(([, , value]) => Number(value));
  });
  if (values.length === 0) return null;
  const [median, low, high] = [0.5, 0.25, 0.75].map((share) => quantile(values, share)) as [
    number,
    number,
    number,
  ];
  return { median, low, high, points: values.length };
}

function rowOf(devices: number, jobs: readonly Job[], shape: Shape, cluster: Cluster): ScalingRow | null {
  const ended = jobs.filter(({ state }) => state === "succeeded");
  const of = ended.length > 0 ? ended : jobs.filter(({ state }) => state === "running");
  if (of.length === 0) return null;
  const samples = steadyRate(of, cluster, "train/sequences_per_second");
  const time = ended.length > 0 ? median(ended.map((job) => job.time_to_train_seconds!)) : null;
  const wanted = time === null ? null : steps * shape.samplesAStep(devices);
  return {
    devices,
    jobs: of.map(({ id }) => id),
    so_far: ended.length === 0,
    reached: ended.length,
    samples_per_second: samples,
    tokens_per_second: steadyRate(of, cluster, "train/tokens_per_second"),
    per_device: samples && samples.median / devices,
    ...{ speed_up: null, efficiency: null, model_flops_per_second: null, mfu: null },
    time_to_train_seconds: time,
    samples_to_target: wanted,
    stepping_share: time === null || samples === null ? null : wanted! / (samples.median * time),
    ...{ evaluation_share: 0.031, checkpoint_share: 0.012, time_efficiency: null },
  };
}

function withBase(row: ScalingRow, base: ScalingRow): ScalingRow {
  const efficiency = row.per_device! / base.per_device!;
  const both = row.time_to_train_seconds !== null && base.time_to_train_seconds !== null;
  return {
    ...row,
    efficiency,
    speed_up: (efficiency * row.devices) / base.devices,
    time_efficiency: both
      ? {
          efficiency:
            (base.devices * base.time_to_train_seconds!) / (row.devices * row.time_to_train_seconds!),
          throughput: efficiency,
          samples: base.samples_to_target! / row.samples_to_target!,
          stepping: row.stepping_share! / base.stepping_share!,
        }
      : null,
  };
}

function tableOf(jobs: readonly Job[], shape: Shape, cluster: Cluster): ScalingTable {
  const sizes = [...new Set(jobs.map(({ devices }) => devices))].sort((a, b) => a - b);
  const rows = sizes.flatMap((devices) => {
    const row = rowOf(
      devices,
      jobs.filter((job) => job.devices === devices),
      shape,
      cluster,
    );
    return row ? [row] : [];
  });
  const base = rows.find(({ so_far }) => !so_far);
  const told = base ? rows.map((row) => withBase(row, base)) : rows;
  const best = told.filter(({ so_far }) => !so_far).at(-1);
  return {
    parameters: {},
    base: base?.devices ?? null,
    sentence: best
      ? `${best.devices} devices: ${Math.round(100 * best.efficiency!)} % of linear from ${base!.devices}`
      : "no size has ended that told its throughput",
    slots_share_cores: shape.kind === "cpu",
    rows: told,
  };
}

const jobsOf = (cluster: Cluster, id: number) =>
  cluster.experiments.get(id)!.jobs.flatMap((job) => cluster.jobs.get(job) ?? []);

function fieldsOf(cluster: Cluster, id: number): StudyFields {
  const { name, created_ms } = cluster.experiments.get(id)!;
  const { scaling, sweep } = shapeOf(id);
  const states: Record<string, number> = {};
  for (const { state } of jobsOf(cluster, id)) states[state] = (states[state] ?? 0) + 1;
  const any = (...wanted: string[]) => wanted.some((state) => state in states);
  const state = any("starting", "running", "stopping")
    ? "running"
    : any("queued")
      ? any("succeeded", "failed", "cancelled")
        ? "running"
        : "queued"
      : any("failed")
        ? "failed"
        : any("cancelled")
          ? "cancelled"
          : "succeeded";
  return { id, name, kind: scaling ? "scaling" : "sweep", state, states, created_ms, scaling, sweep };
}

function warningsOf(study: number, jobs: readonly Job[]): Study["warnings"] {
  return jobs.flatMap((job): Study["warnings"] => {
    const of = `job ${job.id} (${job.devices} devices)`;
    if (job.state === "failed")
      return [{ code: "failed", job: job.id, sentence: `${of} failed: ${job.reason}` }];
    if (job.state === "cancelled")
      return [{ code: "cancelled", job: job.id, sentence: `${of} was cancelled` }];
    if (job.ended_ms === null) return [{ code: "unfinished", job: job.id, sentence: `${of} has not ended` }];
    if (study === slotStudy)
      return [
        {
          code: "shared_node",
          job: job.id,
          sentence: `${of} shared node-1 with job 3: alone it may have been faster`,
        },
      ];
    if (job.restarts > 0)
      return [{ code: "restarted", job: job.id, sentence: `${of} was restarted ${job.restarts} time` }];
    return [];
  });
}

export function studyOf(cluster: Cluster, id: number, published: PublishedRow[]): Study {
  const shape = shapeOf(id);
  const jobs = jobsOf(cluster, id);
  return {
    ...fieldsOf(cluster, id),
    asha: id === ashaStudy ? ashaOf(jobs) : null,
    members: jobs.map((job) => ({
      job: job.id,
      name: job.name,
      state: job.state,
      devices: job.devices,
      kind: job.kind,
      parameters:
        id === ashaStudy
          ? { "training.optimizer.lr": Number(job.labels["lr"]) }
          : id === sweepStudy
            ? {
                "training.optimizer.lr": Number(job.labels["lr"]),
                "training.batch.global": Number(job.labels["batch"]),
              }
            : {},
      seed: [sweepStudy, slotStudy, ashaStudy].includes(id) ? null : 1 + (job.id % 3),
      restarts: job.restarts,
      artificial: id === slotStudy && job.devices === 4,
      reason: job.reason,
      time_to_train_seconds: job.time_to_train_seconds,
      trial: id === ashaStudy ? trialOf(job) : null,
    })),
    tables: shape.scaling ? [tableOf(jobs, shape, cluster)] : [],
    warnings: warningsOf(id, jobs),
    published,
  };
}

const records = new URL("../../../configs/records/", import.meta.url);

/** The published results of the project's files. */
export function publishedRows(): PublishedRow[] {
  const none = { precision: null, batch: null, runs: null, url: null, note: null };
  return readdirSync(records)
    .sort()
    .flatMap((file) => {
      const { records: rows } = parse(readFileSync(new URL(file, records), "utf8")) as {
        records: Partial<PublishedRow>[];
      };
      return rows.map((row) => ({ ...none, ...row, file }) as PublishedRow);
    });
}

export function readPublished(query: Query): Answer {
  const benchmark = query.text("benchmark");
  query.check();
  const rows = publishedRows().filter((row) => benchmark === null || row.benchmark === benchmark);
  return ok({ published: rows });
}

export function readStudies({ cluster }: FakeCoordinator, query: Query): Answer {
  const ids = [...cluster.experiments.values()]
    .filter(({ jobs }) => jobs.length > 1)
    .map(({ id }) => id)
    .sort((a, b) => b - a);
  const { items, more } = pageOf(ids, query, (id) => id);
  return ok({ studies: items.map((id) => fieldsOf(cluster, id)), ...more });
}

export function readStudy({ cluster }: FakeCoordinator, id: number, query: Query): Answer {
  const benchmark = query.text("published");
  const rows = benchmark === null ? [] : publishedRows().filter((row) => row.benchmark === benchmark);
  if (benchmark !== null && rows.length === 0) query.refuse("published", "names no benchmark");
  query.check();
  const experiment = cluster.experiments.get(id);
  if (!experiment) throw noSuch(`study ${id}`);
  if (experiment.jobs.length < 2) throw new Refusal(404, `experiment ${id} has one job and is no study`);
  return ok(studyOf(cluster, id, rows));
}

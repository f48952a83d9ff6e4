// The record board of the fake coordinator, from its jobs that reached a target: a benchmark for each name and target. Some
// runs shared their nodes; one in eleven ran on artificial devices.
import { createHash } from "node:crypto";
import type { Benchmark, BenchmarkDetails, BoardClass, BoardRun, Job } from "../../../web/src/api/types";
import { noSuch, ok, type Answer, type Query } from "./call";
import { sampleSpec, type Cluster } from "./cluster";
import type { FakeCoordinator } from "./server";

const baseName = (name: string) => name.replace(/-s\d$/, "");

function runOf(job: Job, cluster: Cluster): BoardRun {
  const reached = job.target!.reached_ms!;
  const excluded = [
    ...(job.id % 11 === 0 ? ["it ran on devices that were made up"] : []),
    ...(job.id % 5 === 0 ? [`it shared nodes with job ${job.id + 1}`] : []),
  ];
  const experiment = cluster.experiments.get(job.experiment)!;
  return {
    job: job.id,
    experiment: job.experiment,
    name: job.name,
    seconds: (reached - job.started_ms!) / 1000,
    started_ms: job.started_ms!,
    reached_ms: reached,
    devices: [job.devices],
    device_models: [job.kind === "gpu" ? "NVIDIA H100 80GB" : "cpu slot"],
    nodes: Array.from({ length: Math.ceil(job.devices / 8) }, (_, index) => `node-${index + 1}`),
    versions: ["0.1.0"],
    restarts: job.restarts,
    seed: job.id % 3 === 0 ? null : job.id % 3,
    source: experiment.source,
    file: experiment.file,
    spec_sha256: createHash("sha256")
      .update(`${sampleSpec}${baseName(job.name)}`)
      .digest("hex"),
    reproduces: Number(job.labels["reproduces"] ?? 0) || null,
    excluded,
  };
}

function classesOf(runs: readonly BoardRun[]): BoardClass[] {
  const classes = new Map<string, BoardClass>();
  const counted = runs.filter(({ excluded }) => excluded.length === 0);
  for (const run of [...counted].sort((a, b) => a.reached_ms - b.reached_ms)) {
    const [device, devices] = [run.device_models[0]!, run.devices[0]!];
    const key = `${device} ${String(devices).padStart(6)}`;
    const of = classes.get(key) ?? { device, devices, records: [] };
    classes.set(key, of);
    const best = of.records.at(-1)?.seconds ?? Infinity;
    if (run.seconds >= best) continue;
    of.records.push({
      job: run.job,
      reached_ms: run.reached_ms,
      seconds: run.seconds,
      improvement: best === Infinity ? null : (best - run.seconds) / best,
    });
  }
  return [...classes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, of]) => of);
}

export function benchmarksOf(cluster: Cluster): BenchmarkDetails[] {
  const reached = [...cluster.jobs.values()].filter(
    ({ target, started_ms }) => target?.reached_ms != null && started_ms !== null,
  );
  const names = [...new Set(reached.map(({ name }) => baseName(name)))].sort();
  return names.map((name) => {
    const jobs = reached.filter((job) => baseName(job.name) === name);
    const { metric, at_least } = jobs[0]!.target!;
    const all = jobs.map((job) => runOf(job, cluster)).sort((a, b) => b.reached_ms - a.reached_ms);
    return {
      id: `${name}-${metric.split("/").at(-1)}`,
      name: `${name} pretrain, ${metric} at least ${at_least}`,
      identity: {
        task: "pretrain",
        model: { family: "bert", preset: name },
        data: { train: ["corpus/train.txt"], tokenizer: { wordpiece: "corpus/vocab.txt" } },
        target: { metric, at_least },
      } as unknown as BenchmarkDetails["identity"],
      runs: all.length,
      excluded: all.filter(({ excluded }) => excluded.length > 0).length,
      classes: classesOf(all),
      all,
    };
  });
}

const withoutRuns = ({ all: _, ...benchmark }: BenchmarkDetails): Benchmark => benchmark;

export function readBoard({ cluster }: FakeCoordinator, query: Query): Answer {
  query.check();
  return ok({ benchmarks: benchmarksOf(cluster).map(withoutRuns) });
}

export function readBenchmark({ cluster }: FakeCoordinator, id: string, query: Query): Answer {
  query.check();
  const benchmark = benchmarksOf(cluster).find((each) => each.id === id);
  if (!benchmark) throw noSuch(`benchmark ${id}`);
  return ok(benchmark);
}

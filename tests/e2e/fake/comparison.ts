// The fake coordinator's answers about several jobs at once: their curves and their differences.
import type { ComparedField, ComparedOutcome, Comparison, Job, JobDetail } from "../../../web/src/api/types";
import { noSuch, ok, type Answer, type Query } from "./call";
import { makeSeries } from "./curves";
import { detailOf } from "./quickstart";
import { seriesOf } from "./reads";
import type { FakeCoordinator } from "./server";

const mostJobs = 50;
const mostPoints = 500_000;

interface Asked {
  details: JobDetail[];
  missing: number[];
}

function jobsAsked(coordinator: FakeCoordinator, query: Query): Asked {
  const ids = query.all("job").map(Number);
  if (ids.length === 0) query.refuse("job", "is missing");
  if (ids.length > mostJobs) query.refuse("job", "is given more than 50 times");
  if (ids.some((id) => !Number.isSafeInteger(id) || id < 1)) query.refuse("job", "must be a number");
  if (new Set(ids).size < ids.length) query.refuse("job", "names a job twice");
  const { jobs } = coordinator.cluster;
  return {
    details: ids.flatMap((id) => (jobs.has(id) ? [detailOf(jobs.get(id)!, coordinator.cluster)] : [])),
    missing: ids.filter((id) => !jobs.has(id)),
  };
}

export function seriesOfJobs(coordinator: FakeCoordinator, query: Query): Answer {
  const { details, missing } = jobsAsked(coordinator, query);
  const keys = query.all("key");
  if (keys.length === 0) query.refuse("key", "is missing");
  const points = query.integer("points", 1000, 2, 20_000);
  if ((details.length + missing.length) * keys.length * points > mostPoints)
    query.refuse("points", "is too many");
  query.check();
  if (details.length === 0) throw noSuch(`job ${missing[0]}`);
  const pairs = details.flatMap((job) => {
    const all = makeSeries(job);
    return keys.map((key) => ({ job: job.id, key, all, known: all.some((each) => each.key === key) }));
  });
  return ok({
    series: pairs
      .filter(({ known }) => known)
      .map(({ job, key, all }) => ({ job, ...seriesOf(all, [key], points)[0]! })),
    lacking: pairs.filter(({ known }) => !known).map(({ job, key }) => ({ job, key })),
    missing,
  });
}

function flattened(value: unknown, key = ""): [string, unknown][] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object" || Array.isArray(value)) return [[key, value]];
  return Object.entries(value).flatMap(([name, inner]) =>
    flattened(inner, key === "" ? name : `${key}.${name}`),
  );
}

type Section = ComparedField["section"];

function rowsOf(job: JobDetail): [Section, string, unknown][] {
  const { name: _, version: __, labels, ...spec } = job.spec;
  const on: Record<string, unknown> =
    job.started_ms === null
      ? {}
      : { devices: job.devices, device_models: "NVIDIA H100", agent_versions: "0.1.0" };
  const parts: [Section, unknown][] = [
    ["spec", spec],
    ["labels", labels],
    ["source", job.source],
    ["hardware", on],
  ];
  return parts.flatMap(([section, part]) =>
    flattened(part).map(([key, value]): [Section, string, unknown] => [section, key, value]),
  );
}

function fieldsOf(jobs: readonly JobDetail[]): ComparedField[] {
  const fields = new Map<string, ComparedField>();
  jobs.forEach((job, index) => {
    for (const [section, key, value] of rowsOf(job)) {
      const name = `${section} ${key}`;
      const none: unknown[] = jobs.map(() => null);
      const field = fields.get(name) ?? { section, key, differs: false, values: none };
      field.values[index] = value;
      fields.set(name, field);
    }
  });
  for (const field of fields.values())
    field.differs = new Set(field.values.map((value) => JSON.stringify(value))).size > 1;
  const order: Section[] = ["spec", "labels", "source", "hardware"];
  return [...fields.values()].sort(
    (a, b) => order.indexOf(a.section) - order.indexOf(b.section) || (a.key < b.key ? -1 : 1),
  );
}

interface Row extends Pick<ComparedOutcome, "measure" | "metric" | "better" | "better_by"> {
  values: (number | null)[];
  steps?: (number | null)[];
}

function outcome(jobs: readonly JobDetail[], base: number, row: Row): ComparedOutcome {
  const from = row.values[base] ?? null;
  const may = (index: number) => row.metric !== "" || jobs[index]!.time_to_train_seconds !== null;
  const rivals = row.values.flatMap((value, index) => (value !== null && may(index) ? [value] : []));
  const best = row.better === "less" ? Math.min(...rivals) : Math.max(...rivals);
  const decided = row.better !== null && new Set(rivals).size > 1;
  return {
    ...row,
    steps: row.steps ?? row.values.map(() => null),
    differences: row.values.map((value) =>
      value === null || from === null || from === 0 ? null : (value - from) / Math.abs(from),
    ),
    best: decided
      ? jobs.flatMap(({ id }, index) => (row.values[index] === best && may(index) ? [id] : []))
      : [],
  };
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? null;

function outcomesOf(jobs: readonly JobDetail[], base: number): ComparedOutcome[] {
  const all = jobs.map((job) => makeSeries(job));
  const keys = [...new Set(all.flatMap((series) => series.map(({ key }) => key)))].sort();
  const targets = [...new Set(jobs.flatMap(({ target }) => (target ? [target.metric] : [])))];
  const metrics = [...targets, ...keys.filter((key) => key.startsWith("eval/") && !targets.includes(key))];
  const pointsOf = (index: number, key: string) =>
    all[index]!.find((series) => series.key === key)?.points ?? [];
  const rows: Row[] = [];
  for (const metric of metrics.filter((key) => keys.includes(key))) {
    const less = /loss$/.test(metric);
    const better = targets.includes(metric) || !less ? ("more" as const) : ("less" as const);
    const known = targets.includes(metric) || less || /accuracy$/.test(metric);
    const by = targets.includes(metric) ? ("target" as const) : ("name" as const);
    const bests = jobs.map((_, index) =>
      pointsOf(index, metric)
        .map(([step, , value]) => [Number(value), step] as const)
        .sort(([a], [b]) => (better === "less" ? a - b : b - a))
        .at(0),
    );
    const rule = { better: known ? better : null, better_by: known ? by : null };
    if (known)
      rows.push({
        measure: "best",
        metric,
        ...rule,
        values: bests.map((each) => each?.[0] ?? null),
        steps: bests.map((each) => each?.[1] ?? null),
      });
    rows.push({
      measure: "final",
      metric,
      ...rule,
      values: jobs.map((_, index) => Number(pointsOf(index, metric).at(-1)?.[2] ?? NaN)).map(orNull),
      steps: jobs.map((_, index) => pointsOf(index, metric).at(-1)?.[0] ?? null),
    });
  }
  const byMeasure = { better: "more", better_by: "measure" } as const;
  for (const metric of keys.filter((key) => key.endsWith("_per_second")))
    rows.push({
      measure: "median",
      metric,
      ...byMeasure,
      values: jobs.map((_, index) => median(pointsOf(index, metric).map(([, , value]) => Number(value)))),
    });
  const cost = { metric: "", better: "less", better_by: "measure" } as const;
  const started = (value: (job: Job) => number) =>
    jobs.map((job) => (job.started_ms === null ? null : value(job)));
  rows.push({ measure: "time_to_train", ...cost, values: jobs.map((job) => job.time_to_train_seconds) });
  rows.push({ measure: "run_time", ...cost, values: started((job) => job.elapsed_seconds) });
  rows.push({
    measure: "device_time",
    ...cost,
    values: started((job) => job.elapsed_seconds * job.devices),
  });
  rows.push({ measure: "restarts", ...cost, values: started((job) => job.restarts) });
  return rows
    .filter(({ values }) => values.some((value) => value !== null))
    .map((row) => outcome(jobs, base, row));
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value);

function metricsOf(jobs: readonly JobDetail[]): Comparison["metrics"] {
  const having = new Map<string, number[]>();
  for (const job of jobs)
    for (const { key } of makeSeries(job)) having.set(key, [...(having.get(key) ?? []), job.id]);
  return [...having].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, ids]) => ({ key, jobs: ids }));
}

export function comparisonOf(coordinator: FakeCoordinator, query: Query): Answer {
  const { details, missing } = jobsAsked(coordinator, query);
  const base = query.integer("base", 0, 1, Number.MAX_SAFE_INTEGER);
  if (base > 0 && ![...details.map(({ id }) => id), ...missing].includes(base))
    query.refuse("base", "must be one of the jobs");
  const everything = query.integer("all", 0, 0, 1) === 1;
  query.all("metric");
  query.check();
  if (details.length === 0) throw noSuch(`job ${missing[0]}`);
  const place = Math.max(
    0,
    details.findIndex(({ id }) => id === base),
  );
  const fields = fieldsOf(details);
  return ok({
    base: details[place]!.id,
    jobs: details.map(({ id }) => coordinator.read(coordinator.cluster.jobs.get(id)!)),
    missing,
    sources: details.map(({ source }) => source),
    artificial: [],
    fields: fields.filter(({ differs }) => differs || everything),
    differing: fields.filter(({ differs }) => differs).length,
    same: fields.filter(({ differs }) => !differs).length,
    left_out: 0,
    currency: "",
    outcomes: outcomesOf(details, place),
    metrics: metricsOf(details),
  });
}

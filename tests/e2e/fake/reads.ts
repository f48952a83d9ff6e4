// The fake coordinator's answers to readings.
import { thinned } from "../../../web/src/model/series";
import type { Experiment, ExperimentDetail, Job } from "../../../web/src/api/types";
import { readBenchmark, readBoard } from "./board";
import { noSuch, ok, pageOf, type Answer, type Call, type Query } from "./call";
import { comparisonOf, seriesOfJobs } from "./comparison";
import { makeSeries, metricsOf } from "./curves";
import { countStates, jobQueryFrom, sorted } from "./job_query";
import { ledgerOf, readLedger } from "./ledger";
import { accountsOf, queueOf } from "./operate";
import { projectionOf } from "./projection";
import { detailOf, eventsOf, logOf } from "./quickstart";
import type { FakeCoordinator } from "./server";
import { readPublished, readStudies, readStudy } from "./studies";
import { artifactsOf, asScheduled, trackingOf } from "./tracking";
import { whyOf } from "./why";

const most = 1024 * 1024;

export function readFrom(coordinator: FakeCoordinator, call: Call): Answer {
  const [resource, id, part] = call.path;
  const { query } = call;
  if (id === undefined) return readList(coordinator, resource!, query);
  if (resource === "experiments" && part === undefined) {
    const experiment = coordinator.cluster.experiments.get(Number(id));
    query.check();
    if (!experiment) throw noSuch(`experiment ${id}`);
    return ok(experiment);
  }
  if (resource === "board" && part === undefined) return readBenchmark(coordinator, id, query);
  if (resource === "studies" && part === undefined) return readStudy(coordinator, Number(id), query);
  if (resource === "nodes" && part === undefined) {
    const node = coordinator.cluster.nodes.get(id);
    query.check();
    if (!node) throw noSuch(`node ${id}`);
    return ok(coordinator.read(node));
  }
  const job = coordinator.cluster.jobs.get(Number(id));
  if (resource !== "jobs") throw noSuch(call.path.join("/"));
  if (!job) throw noSuch(`job ${id}`);
  return readJob(coordinator, job, part, query);
}

function readList(coordinator: FakeCoordinator, resource: string, query: Query): Answer {
  const { jobs, nodes, experiments } = coordinator.cluster;
  switch (resource) {
    case "jobs":
      return readJobs(coordinator, [...jobs.values()], query);
    case "nodes": {
      const byName = [...nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      const { items, more } = pageOf(byName, query, (node) => node.id);
      return ok({ nodes: items.map((node) => coordinator.read(node)), total: nodes.size, ...more });
    }
    case "experiments": {
      const newest = [...experiments.values()].sort((a, b) => b.id - a.id);
      const { items, more } = pageOf(newest, query, ({ id }) => id);
      return ok({ experiments: items.map(withoutSpec), ...more });
    }
    case "queue": {
      const limit = query.integer("limit", 100, 1, 1000);
      query.text("kind");
      query.check();
      return ok(queueOf(coordinator.cluster, limit, Date.now()));
    }
    case "accounts":
      query.check();
      return ok(accountsOf(coordinator.accounts));
    case "compare":
      return comparisonOf(coordinator, query);
    case "series":
      return seriesOfJobs(coordinator, query);
    case "studies":
      return readStudies(coordinator, query);
    case "ledger":
      return readLedger(coordinator, query);
    case "board":
      return readBoard(coordinator, query);
    case "published":
      return readPublished(query);
    case "services":
      query.check();
      return ok({ address: "http://127.0.0.1:7071", services: coordinator.services });
    case "specs":
      query.check();
      return ok({ repositories: coordinator.specs });
    default:
      throw noSuch(resource);
  }
}

function withoutSpec({ spec: _, ...experiment }: ExperimentDetail): Experiment {
  return experiment;
}

function readJobs(coordinator: FakeCoordinator, all: Job[], query: Query): Answer {
  const { states, matches, order } = jobQueryFrom(query, coordinator.cluster.experiments);
  const matching = all.filter(matches);
  const listed = sorted(
    matching.filter(({ state }) => states.length === 0 || states.includes(state)),
    order,
  );
  const { items, more } = partOf(listed, query, order.key === "id");
  return ok({
    jobs: items.map((job) => coordinator.read(job)),
    total: listed.length,
    states: countStates(matching),
    ...more,
  });
}

/** From `offset`, or after what `page_token` names: a job, or the number of jobs before in orders that change. */
function partOf(listed: readonly Job[], query: Query, byId: boolean) {
  const offset = query.integer("offset", 0, 0, 2 ** 31 - 1);
  if (offset > 0 && query.text("page_token") !== null)
    query.refuse("page_token", "cannot be given with offset");
  if (byId && offset === 0) return pageOf(listed, query, ({ id }) => id);
  const limit = query.integer("limit", 100, 1, 1000);
  const from = query.integer("page_token", offset, 1, Number.MAX_SAFE_INTEGER);
  query.check();
  const items = listed.slice(from, from + limit);
  const end = from + items.length;
  const isLast = items.length === 0 || end >= listed.length;
  const token = byId ? items.at(-1)?.id : end;
  return { items, more: isLast ? {} : { next_page_token: String(token) } };
}

function readJob(coordinator: FakeCoordinator, job: Job, part: string | undefined, query: Query): Answer {
  const detail = detailOf(job, coordinator.cluster);
  const curves = () => makeSeries(job.tracked ? detailOf(asScheduled(job), coordinator.cluster) : detail);
  switch (part) {
    case undefined:
      query.check();
      return ok(coordinator.read(detail));
    case "events": {
      const { items, more } = pageOf(eventsOf(job), query, ({ id }) => id);
      return ok({ events: items, ...more });
    }
    case "metrics":
      query.check();
      return ok({ metrics: metricsOf(curves()) });
    case "series": {
      const keys = query.all("key");
      if (keys.length === 0) query.refuse("key", "is missing");
      if (keys.length > 64) query.refuse("key", "is given more than 64 times");
      const points = query.integer("points", 1000, 2, 20_000);
      query.check();
      return ok({ series: seriesOf(curves(), keys, points) });
    }
    case "ledger":
      query.check();
      return ok(ledgerOf(job, coordinator.cluster, Date.now()));
    case "tracking":
      query.check();
      return ok(trackingOf(job));
    case "artifacts": {
      const path = query.text("path") ?? "";
      query.check();
      return ok({ files: artifactsOf(job, path) });
    }
    case "projection":
      query.check();
      return ok(projectionOf(job, coordinator.cluster));
    case "why":
      query.check();
      return ok(whyOf(job, Date.now()));
    case "logs":
      return readLog(coordinator, job, query);
    default:
      throw noSuch(`${part} of a job`);
  }
}

/** In the order of the keys, thinned for a screen. */
export function seriesOf(all: ReturnType<typeof makeSeries>, keys: string[], points: number) {
  return keys.map((key) => {
    const known = all.find((series) => series.key === key);
    if (!known) throw noSuch(`metric "${key}"`);
    const whole = known.points.map(([step, timeMs, value]) => ({ step, timeMs, value: Number(value) }));
    const kept = whole.length > points ? thinned(whole, points) : whole;
    return { key, points: kept.map(({ step, timeMs, value }) => [step, timeMs, value]), lost_points: 0 };
  });
}

function readLog(coordinator: FakeCoordinator, job: Job, query: Query): Answer {
  const attempt = query.integer("attempt", job.attempt, 1, 2 ** 31 - 1);
  const rank = query.integer("rank", 0, 0, 2 ** 31 - 1);
  query.oneOf("stream", ["stdout", "stderr"], "stderr");
  const tail = query.integer("tail", 65_536, 0, most);
  const offset = query.integer("offset", -1, 0, Number.MAX_SAFE_INTEGER);
  query.check();
  if (rank >= job.devices || attempt > job.attempt) throw noSuch(`such attempt or rank of job ${job.id}`);
  const bytes = Buffer.from(logOf(job, rank, coordinator.logLines));
  const from = offset < 0 ? Math.max(0, bytes.length - tail) : Math.min(offset, bytes.length);
  const part = bytes.subarray(from, from + most);
  return {
    ...ok(part),
    type: "text/plain; charset=utf-8",
    headers: { "X-Podium-Next-Offset": String(from + part.length) },
  };
}

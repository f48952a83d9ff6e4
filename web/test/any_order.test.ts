// Events, pages, details, operations and resets in any order, late, lost and repeated. Once everything has been delivered
// and the coordinator is quiet, the dashboard shows the coordinator's state.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { drainNode, operateJob, operateJobs, prioritiseJob, resumeNode } from "../src/api/client";
import { Problem, Unreachable } from "../src/api/problem";
import { withLive } from "../src/model/job_update";
import { Cluster, type Loaded } from "../src/state/cluster";
import { detailMs, JobInDetail } from "../src/state/job_detail";
import { Queries, type Reading } from "../src/state/queries";
import { ClusterServer } from "./cluster_server";
import { randomOf } from "./random";
import { Wire } from "./wire";

type Random = (below: number) => number;

const runs = 300;
/** Long enough for a busy machine. */
const patience = 120_000;
const count = 6;
const token = "token";
/** By then a failed request has been repeated. */
const longestWaitMs = 18_000;
const soonMs = 1500;
const stepMs = 500;

const pass = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms));

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** A reader who goes from page to page and presses buttons. */
class Reader {
  readonly queries = new Queries({ onRefused: () => undefined });
  readonly cluster = new Cluster(() => this.queries.invalidate());
  job: JobInDetail | null = null;
  nodes: Reading<Loaded> | null = null;
  private closeJob: () => void = () => undefined;

  constructor(private readonly random: Random) {
    this.queries.go();
  }

  openJob(id: number): void {
    this.closeJob();
    this.job = new JobInDetail(id, this.queries, this.cluster);
    this.closeJob = this.job.open();
  }

  close(): void {
    this.closeJob();
    this.closeNodes();
  }

  openNodes(): void {
    this.nodes ??= this.queries.read("nodes", (asking) => this.cluster.loadNodes(asking), { kept: true });
  }

  closeNodes(): void {
    this.nodes?.release();
    this.nodes = null;
  }

  operate(server: ClusterServer): void {
    const { random, cluster } = this;
    const id = this.job && random(2) === 0 ? this.job.id : server.someJob();
    const node = server.someNode().id;
    const applyJob = (job: Parameters<Cluster["putJobs"]>[0][number]) => cluster.putJobs([job]);
    const operations: (() => Promise<void>)[] = [
      () => operateJob(id, "hold", token).then(applyJob),
      () => operateJob(id, "release", token).then(applyJob),
      () => operateJob(id, "requeue", token).then(applyJob),
      () => operateJob(id, "cancel", token).then(applyJob),
      () => prioritiseJob(id, random(4), token).then(applyJob),
      () =>
        operateJobs([id, server.someJob()], "hold", token).then((results) =>
          cluster.putJobs(results.flatMap((result) => ("job" in result ? [result.job] : []))),
        ),
      () =>
        drainNode(node, { reason: "", from_ms: null, until_ms: null }, token).then((each) =>
          cluster.putNode(each),
        ),
      () => resumeNode(node, token).then((each) => cluster.putNode(each)),
    ];
    operations[random(operations.length)]!().catch((error: unknown) => {
      if (!(error instanceof Unreachable || error instanceof Problem)) throw error;
    });
  }
}

type Deed = () => void | Promise<void>;

/** Actions that happen all the time, in any order. */
function deedsOf(server: ClusterServer, reader: Reader, random: Random): Deed[] {
  const often: Deed[] = [
    () => server.change(),
    () => server.tell(),
    () => server.send(1 + random(3)),
    () => server.takeRequest(),
    () => server.makeReading(),
    () => server.answer(),
  ];
  const seldom: Deed[] = [
    () => server.changeNode(),
    () => reader.operate(server),
    () => server.repeat(),
    () => reader.openJob(server.someJob()),
    () => server.submit(),
    () => reader.openNodes(),
    () => reader.nodes?.refresh(),
    () => pass(random(400)),
  ];
  return [...often, ...often, ...often, ...often, ...seldom, ...seldom];
}

/** Disturbances, which take time to recover from. */
function troublesOf(server: ClusterServer, reader: Reader, random: Random): Deed[] {
  return [
    () => server.save(server.someJob()),
    () => server.lose(),
    () => server.loseOne(),
    () => server.refuse(),
    () => server.restart(),
    () => reader.closeNodes(),
    () => pass(random(60_000)),
  ];
}

/** Also in any order: an answer may arrive long after the events. */
async function deliver(server: ClusterServer, random: Random): Promise<void> {
  const deeds: Deed[] = [
    () => server.tell(),
    () => server.send(100),
    () => server.takeRequest(),
    () => server.makeReading(),
    () => server.answer(),
    () => pass(100),
  ];
  while (!server.idle) await deeds[random(deeds.length)]!();
}

/** Nothing happens for this long, and no request waits. */
async function quiet(server: ClusterServer, random: Random, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    await deliver(server, random);
    await pass(stepMs);
  }
  await deliver(server, random);
}

const bare = <T extends { revision?: number }>({ revision: _, ...rest }: T) => rest;
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
const shownJob = ({ job }: Reader) => withLive(job!.readings!.detail.answer.value.data!, job!.live.value);

function expectNodes(server: ClusterServer, { nodes, cluster }: Reader, when: string): void {
  if (nodes === null) return;
  const shown = [...cluster.nodes.all.value.values()].map(bare).sort(byId);
  expect(shown, `${when}: nodes`).toEqual([...server.nodes.values()].map(bare).sort(byId));
}

/** A run: what is shown is compared soon after the last change, and at the end with changes that no message reports. */
async function run(seed: number): Promise<void> {
  const random = randomOf(seed);
  const reader = new Reader(random);
  const server = new ClusterServer(new Wire(), reader.cluster, count, random);
  const deeds = deedsOf(server, reader, random);
  const troubles = [...deeds, ...troublesOf(server, reader, random)];
  const some = async (from: Deed[], turns: number) => {
    for (let turn = turns; turn > 0; turn -= 1) await from[random(from.length)]!();
  };
  reader.openNodes();
  reader.openJob(server.someJob());
  await some(troubles, random(200));
  await quiet(server, random, longestWaitMs);
  await some(deeds, 20 + random(60));
  await quiet(server, random, soonMs);
  const { checkpoint: _saved, ...told } = server.detailOf(reader.job!.id);
  const { checkpoint: _known, ...shown } = shownJob(reader);
  expect(bare(shown), `seed ${seed}, soon: job`).toEqual(bare(told));
  expectNodes(server, reader, `seed ${seed}, soon`);
  await some(troubles, random(100));
  await quiet(server, random, longestWaitMs + detailMs);
  const { id } = reader.job!;
  expect(bare(shownJob(reader)), `seed ${seed}: job`).toEqual(bare(server.detailOf(id)));
  expect(reader.job!.readings!.history!.answer.value.data, `seed ${seed}: history`).toEqual(
    server.eventsOf(id),
  );
  expectNodes(server, reader, `seed ${seed}`);
  reader.close();
}

it(
  "ends in the coordinator's state, nodes and a job in full, whatever was asked, told and lost meanwhile",
  async () => {
    for (let seed = 1; seed <= runs; seed += 1) await run(seed);
  },
  patience,
);

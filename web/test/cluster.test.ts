// Jobs and nodes from pages, events, details and answers, in any order.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job, LiveMessage, Node } from "../src/api/types";
import { viewFrom } from "../src/model/job_list";
import { Cluster, type Loaded } from "../src/state/cluster";
import { JobWindows, paceMs } from "../src/state/job_windows";
import { Queries } from "../src/state/queries";
import { job as sample } from "./samples";
import { Wire } from "./wire";

/** By default without a revision, as from a coordinator that has none. */
function job({ revision, ...changes }: Partial<Job> = {}): Job {
  const { revision: _, ...read } = sample(changes);
  return (revision === undefined ? read : { ...read, revision }) as Job;
}

let wire: Wire;
let queries: Queries;
let cluster: Cluster;

beforeEach(() => {
  vi.useFakeTimers();
  wire = new Wire();
  queries = new Queries({ onRefused: () => undefined });
  cluster = new Cluster(() => queries.invalidate());
  queries.go();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const flushed = async () => void (await vi.advanceTimersByTimeAsync(300));
const readJobs = () =>
  new JobWindows(viewFrom(new URLSearchParams()), queries, cluster, { startedAt: -Infinity }).open();
const told = (id: number, data: Job): LiveMessage => ({ id, event: "job", data });
const names = () => [...cluster.jobs.all.value.values()].map(({ id, name }) => `${id} ${name}`).sort();
const page = (jobs: Job[]) => ({ jobs, total: jobs.length, states: {} });
const paced = async () => void (await vi.advanceTimersByTimeAsync(paceMs));

describe("of two readings of a job", () => {
  beforeEach(() => {
    readJobs();
  });

  it("the newer stays, however late the older comes", async () => {
    cluster.receive([told(12, job({ revision: 11, name: "newer" }))]);
    await flushed();
    await wire.requests[0]!.answer(page([job({ revision: 10, name: "older" })]));
    expect(names()).toEqual(["12 newer"]);
    cluster.putJobs([job({ revision: 9, name: "oldest" })]);
    expect(names()).toEqual(["12 newer"]);
    cluster.putJobs([job({ revision: 13, name: "newest" })]);
    expect(names()).toEqual(["12 newest"]);
  });

  it("without revisions an event beats the page that was asked for before it", async () => {
    cluster.receive([told(12, job({ name: "event" }))]);
    await flushed();
    await wire.requests[0]!.answer(page([job({ name: "page" })]));
    expect(names()).toEqual(["12 event"]);
  });

  it("points do not make an old reading newer than a page that was asked for later", async () => {
    await wire.requests[0]!.answer(page([job({ revision: 5, state: "running" })]));
    cluster.receive([{ id: 20, event: "reset" }]);
    cluster.receive([
      {
        id: 22,
        event: "metrics",
        data: { job: 12, points: [{ key: "loss", step: 9, time_ms: 9, value: 1 }] },
      },
    ]);
    await flushed();
    await wire.requests[1]!.answer(page([job({ revision: 21, state: "failed" })]));
    expect(cluster.jobs.all.value.get(12)!.state).toBe("failed");
  });

  it("after a reset those of a coordinator of before count as old", async () => {
    await wire.requests[0]!.answer(page([job({ revision: 5000, name: "before" })]));
    cluster.receive([{ id: 20, event: "reset" }]);
    await paced();
    await wire.requests[1]!.answer(page([job({ revision: 21, name: "restored" })]));
    expect(names()).toEqual(["12 restored"]);
  });
});

it("messages from before a reset do not beat what is fetched after it", async () => {
  readJobs();
  await wire.requests[0]!.answer(page([job({ name: "known" })]));
  cluster.receive([told(30, job({ name: "missed a failure" })), { id: 40, event: "reset" }]);
  await paced();
  await wire.requests[1]!.answer(page([job({ name: "failed" })]));
  await flushed();
  expect(names()).toEqual(["12 failed"]);
});

describe("a list in pages", () => {
  const readNodes = () =>
    queries.read<Loaded>("nodes", (asking) => cluster.loadNodes(asking), { kept: true });
  const all = ["a", "b", "c"].map((id) => ({ id, revision: 1 }));
  const nodePage = (nodes: object[], next?: string) => ({
    ...{ nodes, total: 3 },
    ...(next ? { next_page_token: next } : {}),
  });

  it("goes on at the page that failed, and says meanwhile how much of it is there", async () => {
    const { answer } = readNodes();
    await wire.requests[0]!.answer(nodePage(all.slice(0, 2), "b"));
    await wire.requests[1]!.answer({ title: "busy" }, 503, { "Retry-After": "3" });
    expect(answer.value).toMatchObject({ data: { have: 2, total: 3, complete: false } });
    expect(answer.value.error).not.toBeNull();
    await vi.advanceTimersByTimeAsync(3000);
    expect(wire.requests[2]!.path).toContain("page_token=b");
    await wire.requests[2]!.answer(nodePage(all.slice(2)));
    expect(answer.value).toMatchObject({ data: { have: 3, complete: true }, error: null });
    expect(cluster.nodes.all.value.size).toBe(3);
  });

  it("never starts a load while one runs, and drops what a whole one lacks but not what came since", async () => {
    readNodes();
    await wire.requests[0]!.answer(nodePage(all));
    cluster.receive([{ id: 50, event: "reset" }]);
    cluster.receive([{ id: 51, event: "reset" }]);
    expect(wire.requests).toHaveLength(2);
    cluster.receive([{ id: 53, event: "node", data: { id: "d", revision: 52 } as Node }]);
    await flushed();
    await wire.requests[1]!.answer(nodePage(all.slice(0, 2)));
    expect([...cluster.nodes.all.value.keys()].sort()).toEqual(["a", "b", "d"]);
    expect(wire.requests).toHaveLength(3);
  });
});

it("keeps up only with jobs that were looked at, and with all while there is a list of them", async () => {
  cluster.putJobs([job({ id: 7, experiment: 1 })]);
  expect(cluster.scheduling.value).toBe(1);
  cluster.receive([told(1, job({ id: 7, name: "looked at" })), told(2, job({ id: 8, name: "of nobody" }))]);
  await flushed();
  expect(names()).toEqual(["7 looked at"]);
  expect(cluster.scheduling.value).toBe(2);
  const stop = cluster.listenToJobs({ hear: () => undefined, reset: () => undefined });
  cluster.receive([told(3, job({ id: 9, name: "of a list" }))]);
  await flushed();
  stop();
  expect(names()).toEqual(["7 looked at", "9 of a list"]);
});

it("forgets jobs that were listed once they are many and nobody retains them", () => {
  const many = Array.from({ length: 4000 }, (_, index) => job({ id: index + 1 }));
  cluster.retain("page", () => [7]);
  cluster.retain("selected", () => [9, 11]);
  cluster.retain("selected", () => [9]);
  cluster.putListed(many, 1);
  expect([...cluster.jobs.all.value.keys()]).toEqual([7, 9]);
});

it("tells lists what moved them, once, and that of a job whose other figures changed only that it was told of", async () => {
  const heard: boolean[] = [];
  cluster.listenToJobs({
    hear: (news) => heard.push(...news.map(({ moved }) => moved)),
    reset: () => undefined,
  });
  const tell = async (id: number, changes: Partial<Job>) => {
    cluster.receive([told(id, job(changes))]);
    await flushed();
    return heard.splice(0);
  };
  expect(await tell(1, { state: "queued" })).toEqual([true]);
  expect(await tell(2, { state: "queued", reason: "waits for 8 devices" })).toEqual([false]);
  expect(await tell(3, { state: "running", progress: null })).toEqual([true]);
  expect(await tell(4, { state: "running", priority: 80 })).toEqual([true]);
  cluster.receive([{ id: 5, event: "reset" }]);
  expect(await tell(6, { state: "running", priority: 80 })).toEqual([true]);
});

it("tells the highest number of an experiment of which a job was told", async () => {
  cluster.receive([told(1, job({ id: 8, experiment: 5 })), told(2, job({ id: 9, experiment: 4 }))]);
  await flushed();
  expect(cluster.newestExperiment.value).toBe(5);
  cluster.putJobs([job({ id: 10, experiment: 6 })]);
  expect(cluster.newestExperiment.value).toBe(6);
});

it("tells points in their order, and the scheduler's news but not every step of training", async () => {
  cluster.putJobs([job({ progress: null })]);
  const before = cluster.scheduling.value;
  const heard: number[] = [];
  cluster.listenToPoints(12, (points) => heard.push(...points.map(({ step }) => step)));
  const points = (step: number) => [{ key: "loss", step, time_ms: step, value: step }];
  cluster.receive([
    { id: 1, event: "metrics", data: { job: 12, points: points(10) } },
    { id: 2, event: "metrics", data: { job: 12, points: points(20) } },
    told(3, job({ latest: { loss: 20 }, progress: null })),
  ]);
  await flushed();
  expect(heard).toEqual([10, 20]);
  expect(cluster.jobs.all.value.get(12)!.latest).toEqual({ loss: 20 });
  expect(cluster.scheduling.value).toBe(before);
  cluster.receive([told(4, job({ held: true }))]);
  await flushed();
  expect(cluster.scheduling.value).toBe(before + 1);
});

it("tells the scheduler's news once, from the answer to a change or from its event, also of jobs that nobody lists", async () => {
  const moved = async (message: LiveMessage) => {
    const before = cluster.scheduling.value;
    cluster.receive([message]);
    await flushed();
    return cluster.scheduling.value - before;
  };
  expect(await moved(told(1, job({ id: 8 })))).toBe(1);
  expect(await moved(told(2, job({ id: 8, latest: { loss: 1 } })))).toBe(0);
  cluster.putJobs([job({ id: 8, held: true, revision: 3 })]);
  expect(cluster.scheduling.value).toBe(2);
  expect(await moved(told(4, job({ id: 8, held: true, revision: 4 })))).toBe(0);
});

// Every request of the dashboard, to the fake coordinator and to the real one: both answer as schemas/openapi.yaml says, and
// alike in what the dashboard relies on. No browser.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as client from "../../web/src/api/client";
import { Problem } from "../../web/src/api/problem";
import { readStream } from "../../web/src/api/stream";
import type { Job, LiveMessage } from "../../web/src/api/types";
import { sortFrom, sortKeys } from "../../web/src/model/job_list";
import { makeCluster } from "./fake/cluster";
import { sorted } from "./fake/job_query";
import { breachesOf, messageBreaches } from "./fake/openapi";
import { addQuickstart } from "./fake/quickstart";
import { FakeCoordinator, userToken } from "./fake/server";
import { whyNotReal } from "./support/daemon";
import { RealCluster, realUserToken, sleepingSpec } from "./support/real_cluster";

const why = whyNotReal();
if (why) console.log(`the real coordinator is skipped: ${why}`);

/** What differs between the two. */
interface Subject {
  url: string;
  token: string;
  stop(): Promise<void>;
}

async function startFake(): Promise<Subject> {
  const cluster = makeCluster(30, 3, Date.now());
  addQuickstart(cluster, 31, Date.now());
  const coordinator = new FakeCoordinator(cluster);
  await coordinator.start();
  return { url: coordinator.url, token: userToken, stop: () => coordinator.stop() };
}

async function startReal(): Promise<Subject> {
  const cluster = await RealCluster.start();
  return { url: cluster.url, token: realUserToken, stop: () => cluster.stop() };
}

const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
const untilTrue = (done: () => boolean) => vi.waitUntil(done, { timeout: 30_000, interval: 20 });

describe.each([
  ["the fake coordinator", startFake, ""],
  ["the real coordinator", startReal, why],
])("%s", (_, start, whyNot) => {
  describe.skipIf(whyNot !== "")("", () => {
    let subject: Subject;
    const breaches: string[] = [];

    beforeAll(async () => {
      subject = await start();
      vi.stubGlobal("sessionStorage", storage);
      vi.stubGlobal("localStorage", storage);
      const fetchFrom = globalThis.fetch;
      vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
        const response = await fetchFrom(`${subject.url}/${path}`, init);
        const type = response.headers.get("Content-Type") ?? "";
        const name = path.slice(client.prefix.length).split("?")[0]!;
        const body: unknown = type.includes("json") ? await response.clone().json() : null;
        breaches.push(
          ...breachesOf({ method: init.method ?? "GET", path: name, status: response.status, type, body }),
        );
        return response;
      });
    });

    afterAll(async () => {
      vi.unstubAllGlobals();
      await subject?.stop();
    });

    const problemOf = (promise: Promise<unknown>) =>
      promise.then(
        () => null,
        (error: unknown) => error as Problem,
      );
    const submit = (name: string, key: string) => client.submitSpec(sleepingSpec(name), key, subject.token);
    let job = 0;

    it("tells its health, and whose token it was asked with", async () => {
      const health = await client.getHealth();
      expect(health).toMatchObject({ status: "ok", token: "nobody" });
      expect(Number.isSafeInteger(health.live_id)).toBe(true);
    });

    it("queues a submission once, however often it is made under its key, and refuses the key for another spec", async () => {
      const first = await submit("contract", "key-1");
      const again = await submit("contract", "key-1");
      job = first.jobs[0]!.id;
      expect(again.jobs.map(({ id }) => id)).toEqual([job]);
      expect(again.jobs[0]!.revision).toBeGreaterThan(first.jobs[0]!.revision);
      expect((await problemOf(submit("another", "key-1")))?.status).toBe(409);
      expect((await problemOf(client.submitSpec("name: x", "key-2", "wrong")))?.status).toBe(401);
    });

    it("lists jobs newest first, page after page, in all and of an experiment", async () => {
      await submit("contract-2", "key-3");
      const all = await client.getJobPage({ limit: "1000" });
      const ids = all.jobs.map(({ id }) => id);
      expect(ids).toEqual([...ids].sort((a, b) => b - a));
      expect(all.total).toBe(ids.length);
      const rest = await client.getJobPage({ page_token: String(ids[0]) });
      expect(rest.jobs.map(({ id }) => id)).toEqual(ids.slice(1));
      const { experiment } = all.jobs.find(({ id }) => id === job)!;
      const ofIt = await client.getJobPage({ experiment: String(experiment) });
      expect(ofIt.jobs.map(({ id }) => id)).toEqual([job]);
      expect((await client.getExperiment(experiment)).spec).toContain("name: contract");
    });

    it("lists jobs by windows, in every order, and counts the states of all that match but for the state", async () => {
      await vi.waitFor(expectWindows, { timeout: 30_000, interval: 500 });
    });

    /** Jobs that start meanwhile are in other places then. */
    async function expectWindows(): Promise<void> {
      const all = await client.getJobPage({ limit: "1000" });
      const counted = Object.entries(all.states);
      expect(counted.reduce((sum, [, count]) => sum + count, 0)).toBe(all.total);
      const [state, count] = counted[0]!;
      const some = await client.getJobPage({ state, limit: "1" });
      expect(some).toMatchObject({ total: count, states: all.states });
      for (const key of sortKeys) {
        for (const sort of [key, `-${key}`]) {
          const whole = await client.getJobPage({ sort, limit: "1000" });
          const ids = whole.jobs.map(({ id }) => id);
          expect(ids, sort).toEqual(
            sorted(all.jobs, sortFrom(new URLSearchParams({ sort }))).map(({ id }) => id),
          );
          const window = await client.getJobPage({ sort, offset: "1", limit: "1" });
          expect(
            window.jobs.map(({ id }) => id),
            sort,
          ).toEqual(ids.slice(1, 2));
          expect(window.total).toBe(all.total);
        }
      }
      const beyond = await client.getJobPage({ offset: "100000" });
      expect([beyond.jobs, beyond.total]).toEqual([[], all.total]);
    }

    it("finds jobs by words of the name in any case, by number, by account and by label", async () => {
      const { jobs } = await client.getJobPage({ limit: "1000" });
      const found = async (q: string) =>
        (await client.getJobPage({ q, limit: "1000" })).jobs.map(({ id }) => id);
      const those = (wanted: (one: Job) => boolean) => jobs.filter(wanted).map(({ id }) => id);
      expect(await found("TRACT  con")).toEqual(those(({ name }) => name.includes("contract")));
      expect(await found("tract-2 con")).toEqual(those(({ name }) => name === "contract-2"));
      expect(await found(`#${job}`)).toEqual([job]);
      expect(await found(`${job}`)).toContain(job);
      expect(await found("no-such-job")).toEqual([]);
      expect(await found("no:label")).toEqual([]);
      for (const { account, labels } of jobs.slice(0, 5)) {
        const [top] = account.split("/");
        const isOf = (one: Job) => one.account === top || one.account.startsWith(`${top}/`);
        expect(await found(`account:${top!.toUpperCase()}`)).toEqual(those(isOf));
        for (const [key, value] of Object.entries(labels))
          expect(await found(`${key}:${value.slice(1)}`)).toEqual(
            those((one) => one.labels[key]?.includes(value.slice(1)) === true),
          );
      }
    });

    it("lists experiments, page after page", async () => {
      const all = await client.getExperimentPage(undefined);
      const rest = await client.getExperimentPage(String(all.experiments[0]!.id));
      expect(rest.experiments).toEqual(all.experiments.slice(1));
    });

    it("lists nodes, page after page", async () => {
      await vi.waitUntil(async () => (await client.getNodePage(undefined)).nodes.length > 1, {
        timeout: 30_000,
      });
      const all = await client.getNodePage(undefined);
      const rest = await client.getNodePage(all.nodes[0]!.id);
      expect(rest.nodes.map(({ id }) => id)).toEqual(all.nodes.slice(1).map(({ id }) => id));
      expect(all.total).toBe(all.nodes.length);
    });

    it("has a job's detail, events from one on, metrics and curves of up to 64 keys", async () => {
      const detail = await client.getJob(job);
      expect(detail).toMatchObject({ id: job, name: "contract" });
      const events = await client.getJobEvents(job, 0);
      expect(events.length).toBeGreaterThan(0);
      expect(await client.getJobEvents(job, events.at(-1)!.id)).toEqual([]);
      await client.getMetrics(job);
      const { run_id, artifacts } = await client.getTracking(job);
      expect(artifacts).toContain(run_id);
      expect(await client.getArtifacts(job, "")).toEqual([]);
      expect(await problemOf(client.getSeries(job, ["no/0"], 1000))).toMatchObject({ status: 404 });
      const keys = Array.from({ length: 65 }, (_, index) => `no/${index}`);
      const query = keys.map((key) => `key=${key}`).join("&");
      const refused = await fetch(`${client.prefix}/jobs/${job}/series?${query}`);
      expect(refused.status).toBe(400);
    });

    it("says what is missing and what it does not understand", async () => {
      expect(await problemOf(client.getJob(999_999))).toMatchObject({ status: 404 });
      expect(await problemOf(client.getExperiment(999_999))).toMatchObject({ status: 404 });
      const log = { attempt: 1, rank: 999, stream: "stderr" as const };
      expect(await problemOf(client.getLog(job, log, { tail: 10 }))).toMatchObject({ status: 404 });
      for (const query of [
        "limit=100000",
        "limit=0",
        "colour=red",
        "state=zzz",
        "order=newest",
        "sort=mood",
        "offset=-1",
        "offset=1&page_token=1",
        "experiment=999999",
      ])
        expect((await fetch(`${client.prefix}/jobs?${query}`)).status, query).toBe(400);
    });

    it("holds, releases, moves and cancels a job, and each answer is newer than the last", async () => {
      const { token } = subject;
      const held = await client.operateJob(job, "hold", token);
      const released = await client.operateJob(job, "release", token);
      const moved = await client.prioritiseJob(job, 80, token);
      expect([held.held, released.held, moved.priority]).toEqual([true, false, 80]);
      expect(released.revision).toBeGreaterThan(held.revision);
      expect((await problemOf(client.prioritiseJob(job, 999, token)))?.status).toBeGreaterThanOrEqual(400);
      const together = await client.operateJobs([999_999, job], "hold", token);
      expect(
        together.map((one) => [one.id, "job" in one ? one.job.held : one.refusal.includes("999999")]),
      ).toEqual([
        [job, true],
        [999_999, true],
      ]);
      await client.operateJob(job, "cancel", token);
      await vi.waitUntil(async () => (await client.getJob(job)).state === "cancelled", { timeout: 30_000 });
    });

    it("has the queue, the reasons and the accounts", async () => {
      await client.getQueue(100);
      await client.getWhy((await client.getJobPage({})).jobs[0]!.id);
      await client.getAccounts();
      const nlp = await client.changeAccount("contract", { share: 3 }, subject.token);
      expect(nlp).toMatchObject({ account: "contract", share: 3 });
    });

    it("has the board, each benchmark of it, and knows no other", async () => {
      for (const { id, runs } of await client.getBoard())
        expect((await client.getBenchmark(id)).all).toHaveLength(runs);
      expect(await problemOf(client.getBenchmark("no-such-benchmark"))).toMatchObject({ status: 404 });
    });

    it("repeats a job once, however often it is asked under one key", async () => {
      const first = await client.reproduceJob(job, "key-again", subject.token);
      const again = await client.reproduceJob(job, "key-again", subject.token);
      expect([first.reproduces, again.job.id]).toEqual([job, first.job.id]);
      expect(first.job.labels["reproduces"]).toBe(String(job));
      const found = await client.getJobPage({ q: `reproduces:${job}` });
      expect(found.jobs.map(({ id }) => id)).toContain(first.job.id);
      await client.operateJob(first.job.id, "cancel", subject.token);
    });

    it("has services, each with its replicas", async () => {
      for (const { ready, replicas } of (await client.getServices()).services)
        expect(replicas.filter((replica) => replica.ready)).toHaveLength(ready);
    });

    it("has the specs in git", async () => {
      for (const { specs } of await client.getSpecs())
        for (const { state, experiment } of specs) expect(experiment !== null).toBe(state === "submitted");
    });

    it("drains, reserves and labels a node, and takes it back", async () => {
      const { token } = subject;
      const { id } = (await client.getNodePage(undefined)).nodes[0]!;
      const drained = await client.drainNode(id, { reason: "fans", from_ms: null, until_ms: null }, token);
      expect(drained.drain?.reason).toBe("fans");
      expect((await client.resumeNode(id, token)).drain).toBeNull();
      const window = { account: "contract", reason: "", from_ms: null, until_ms: null };
      expect((await client.reserveNode(id, window, token)).reservation?.account).toBe("contract");
      expect((await client.unreserveNode(id, token)).reservation).toBeNull();
      expect((await client.labelNode(id, { rack: "r9" }, token)).labels["rack"]).toBe("r9");
      expect((await client.labelNode(id, { rack: null }, token)).operator_labels).toEqual({});
    });

    it("greets on the stream at once, tells what changes, resumes, and resets whom it cannot continue", async () => {
      const messages: LiveMessage[] = [];
      let greeted = 0;
      const open = async (lastId: number) => {
        const abort = new AbortController();
        const before = greeted;
        const reader = {
          onGreeting: () => (greeted += 1),
          onMessages: (some: LiveMessage[]) => messages.push(...some),
        };
        const ended = readStream(lastId, reader, abort).catch(() => undefined);
        await untilTrue(() => greeted > before);
        return () => (abort.abort(), ended);
      };
      const { live_id: position } = await client.getHealth();
      const close = await open(position);
      const { jobs } = await submit("contract-live", "key-4");
      const isIt = (message: LiveMessage) => message.event === "job" && message.data.id === jobs[0]!.id;
      await untilTrue(() => messages.some(isIt));
      await close();
      for (const message of messages)
        if (message.event !== "reset") expect(messageBreaches(message.event, message.data)).toEqual([]);
      const ids = messages.map(({ id }) => id);
      expect(ids).toEqual([...ids].sort((a, b) => a - b));
      expect(ids[0]).toBeGreaterThan(position);

      messages.length = 0;
      await (
        await open(ids.at(-1)!)
      )();
      expect(messages.filter(({ event }) => event === "reset")).toEqual([]);
      const closeLast = await open(1);
      await untilTrue(() => messages.some(({ event }) => event === "reset"));
      await closeLast();
    });

    it("answered all of this as openapi.yaml has it", () => {
      expect(breaches).toEqual([]);
    });
  });
});

it("an answer with less, more or something else than the document has is a breach", () => {
  const answered = (changes: object) =>
    breachesOf({
      ...{ method: "GET", path: "/health", status: 200, type: "application/json" },
      body: { ...health, ...changes },
    });
  const health = {
    ...{ status: "ok", version: "1", cluster: "c", uptime_seconds: 1, live_id: 1, token: "user" },
    jobs: { queued: 0, starting: 0, running: 0, stopping: 0, succeeded: 0, failed: 0, cancelled: 0 },
    nodes: { up: 0, unknown: 0, lost: 0 },
  };
  expect(answered({})).toEqual([]);
  expect(answered({ version: undefined })).toHaveLength(1);
  expect(answered({ more: 1 })).toHaveLength(1);
  expect(answered({ live_id: "1" })).toHaveLength(1);
  expect(messageBreaches("metrics", { job: 1 })).toHaveLength(1);
});

// When the detail and the history of a job are fetched again.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Job, LiveMessage } from "../src/api/types";
import { Cluster } from "../src/state/cluster";
import { detailMs, historyMs, JobInDetail } from "../src/state/job_detail";
import { Queries } from "../src/state/queries";
import { job as sample } from "./samples";
import { Wire } from "./wire";

const id = 12;
const over: Partial<Job> = { state: "succeeded", ended_ms: 2_000_000 };

let wire: Wire;
let cluster: Cluster;
let shown: JobInDetail;
let close: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  wire = new Wire();
  const queries = new Queries({ onRefused: () => undefined });
  cluster = new Cluster(() => queries.invalidate());
  queries.go();
  shown = new JobInDetail(id, queries, cluster);
  close = shown.open();
});

afterEach(() => {
  close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms));
const tell = async (message: number, changes: Partial<Job>) => {
  const told: LiveMessage = {
    id: message,
    event: "job",
    data: sample({ revision: message - 1, ...changes }),
  };
  cluster.receive([told]);
  await pass(300);
};
const detail = (changes: Partial<Job>) => ({
  ...sample(changes),
  ...{
    attempts: [],
    checkpoint: null,
    spec: {},
    source: null,
    text: null,
    origin: null,
    best_checkpoint: null,
  },
});
const asked = () => wire.requests.map(({ path }) => path.split("?")[0]);
const answerHistory = () => wire.requests.at(-1)!.answer({ events: [] });

it("asks for a job that is over once, and for its history when the job is known", async () => {
  expect(asked()).toEqual(["/jobs/12"]);
  await wire.requests[0]!.answer(detail({ revision: 10, ...over }));
  expect(asked()).toEqual(["/jobs/12", "/jobs/12/events"]);
  await answerHistory();
  await pass(20 * detailMs);
  expect(wire.requests).toHaveLength(2);
});

it("has a job's history in the order of time, whenever the coordinator learnt of it", async () => {
  const event = (id: number, time_ms: number) => ({ id, time_ms, type: "t", text: "", level: "info" });
  const shownIds = () => shown.readings!.history!.answer.value.data!.map(({ id }) => id);
  await wire.requests[0]!.answer(detail({ revision: 10 }));
  await wire.requests
    .at(-1)!
    .answer({ events: [event(1, 100), event(2, 300), event(3, 200), event(4, 300)] });
  expect(shownIds()).toEqual([1, 3, 2, 4]);
  await tell(15, { attempt: 2 });
  expect(wire.requests.at(-1)!.path).toMatch(/events\?.*page_token=4\b/);
  await wire.requests.at(-1)!.answer({ events: [event(5, 250)] });
  expect(shownIds()).toEqual([1, 3, 5, 2, 4]);
});

it("has news that overtook the first detail, and asks for it again", async () => {
  await tell(12, over);
  await wire.requests[0]!.answer(detail({ revision: 10 }));
  expect(shown.live.value!.state).toBe("succeeded");
  expect(asked()).toEqual(["/jobs/12", "/jobs/12/events", "/jobs/12"]);
  await wire.requests[2]!.answer(detail({ revision: 20, ...over }));
  expect(shown.readings!.detail.answer.value.data!.state).toBe("succeeded");
});

it("asks at once when the job has moved, and counts that for its forecast; older readings move nothing", async () => {
  await wire.requests[0]!.answer(detail({ revision: 10 }));
  await answerHistory();
  expect(shown.changes.value).toBe(0);
  await tell(15, { attempt: 2 });
  expect(asked().slice(2)).toEqual(["/jobs/12", "/jobs/12/events"]);
  expect(shown.changes.value).toBe(1);
  cluster.putJobs([sample({ revision: 13, attempt: 1 })]);
  expect(shown.live.value!.attempt).toBe(2);
  expect(shown.changes.value).toBe(1);
});

it("of a job that is over asks later after news that seem to change nothing, once", async () => {
  await wire.requests[0]!.answer(detail({ revision: 10, ...over }));
  await answerHistory();
  await tell(12, { ...over, ended_ms: 3_000_000 });
  expect(wire.requests).toHaveLength(2);
  await pass(historyMs);
  await answerHistory();
  await pass(detailMs);
  await wire.requests.at(-1)!.answer(detail({ revision: 30, ...over, ended_ms: 3_000_000 }));
  expect(asked().slice(2)).toEqual(["/jobs/12/events", "/jobs/12", "/jobs/12/events"]);
  await answerHistory();
  const { length } = wire.requests;
  await pass(20 * detailMs);
  expect(wire.requests).toHaveLength(length);
});

it("does not ask on and on where a reading of a coordinator of before seems to be newer", async () => {
  await tell(5000, over);
  await wire.requests[0]!.answer(detail({ revision: 10 }));
  await pass(1000);
  await wire.requests[2]!.answer(detail({ revision: 11 }));
  const { length } = wire.requests;
  await pass(5000);
  expect(wire.requests).toHaveLength(length);
});

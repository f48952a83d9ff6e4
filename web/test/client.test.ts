// The requests to the coordinator, and what the dashboard makes of missing answers.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { getJob, getSeries, operateJob, submitSpec } from "../src/api/client";
import { explain, Problem, Unreachable } from "../src/api/problem";
import type { Experiment } from "../src/api/types";
import { askForExperiments } from "../src/hooks/use_lists";
import { draftKey, draftSubmitted } from "../src/state/draft";
import { Queries } from "../src/state/queries";
import { Wire } from "./wire";

let wire: Wire;

beforeEach(() => {
  vi.useFakeTimers();
  wire = new Wire();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

it("gives up reading after half a minute", async () => {
  const failure = failureOf(getJob(7));
  await vi.advanceTimersByTimeAsync(29_999);
  expect(wire.requests[0]!.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await failure).toBeInstanceOf(Unreachable);
});

it("never gives up a change, and says of a lost answer that it may have been done", async () => {
  const failure = failureOf(operateJob(7, "hold", "token"));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(wire.requests[0]!.signal.aborted).toBe(false);
  await wire.requests[0]!.fail();
  expect(explain(await failure)).toBe(
    "The coordinator did not answer. It may have made the change: look at the list.",
  );
});

it("says of a reading that was lost that it is made again", async () => {
  const failure = failureOf(getJob(7));
  await wire.requests[0]!.fail();
  expect(explain(await failure)).toBe("The coordinator did not answer. The dashboard asks again by itself.");
});

it("heeds when the coordinator wishes to be asked again", async () => {
  const failure = failureOf(getJob(7));
  await wire.requests[0]!.answer({ title: "busy" }, 503, { "Retry-After": "4" });
  expect((await failure) as Problem).toMatchObject({ status: 503, retryAfterMs: 4000 });
});

it("asks for the curves of a job with more metrics than one request may name", async () => {
  const keys = Array.from({ length: 130 }, (_, index) => `metric/${index}`);
  const series = getSeries(7, keys, 1000);
  for (const count of [64, 64, 2]) {
    const asked = new URLSearchParams(wire.requests.at(-1)!.path.split("?")[1]).getAll("key");
    expect(asked).toHaveLength(count);
    await wire.requests.at(-1)!.answer({ series: asked.map((key) => ({ key, points: [] })) });
  }
  expect((await series).map(({ key }) => key)).toEqual(keys);
});

it("submits a draft under one key until it has succeeded", async () => {
  const submit = (spec: string) => failureOf(submitSpec(spec, draftKey(spec), "token"));
  const keyOf = (index: number) => wire.requests[index]!.headers["Idempotency-Key"];
  const lost = submit("a");
  await wire.requests[0]!.fail();
  await lost;
  const again = submit("a");
  await wire.requests[1]!.answer({ experiment: {}, jobs: [] });
  await again;
  draftSubmitted();
  void submit("a");
  void submit("b");
  expect(keyOf(0)).toMatch(/^[0-9a-f]{32}$/);
  expect(keyOf(1)).toBe(keyOf(0));
  expect(keyOf(2)).not.toBe(keyOf(0));
  expect(keyOf(3)).not.toBe(keyOf(2));
});

it("knows all experiments, not the newest page only, and later asks for newer ones alone", async () => {
  const queries = new Queries({ onRefused: () => undefined });
  queries.go();
  const { answer, refresh } = queries.read("experiments", askForExperiments);
  const ids = () => answer.value.data?.map(({ id }) => id);
  const page = (...some: number[]) => some.map((id) => ({ id }) as Experiment);
  await wire.requests[0]!.answer({ experiments: page(4, 3), next_page_token: "3" });
  expect(ids()).toEqual([4, 3]);
  expect(wire.requests[1]!.path).toContain("page_token=3");
  await wire.requests[1]!.answer({ experiments: page(2, 1) });
  expect(ids()).toEqual([4, 3, 2, 1]);
  refresh();
  await wire.requests[2]!.answer({ experiments: page(5, 4), next_page_token: "4" });
  expect(ids()).toEqual([5, 4, 3, 2, 1]);
  expect(wire.requests).toHaveLength(3);
});

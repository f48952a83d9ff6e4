// Operations on many jobs: in batches, past refusals, and continued where a token was refused.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Problem } from "../src/api/problem";
import { operateAll, prioritiseAll } from "../src/job/together";
import { cluster } from "../src/state/store";
import { job } from "./samples";
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

const jobsUpTo = (last: number) => Array.from({ length: last }, (_, index) => job({ id: index + 1 }));
const asked = (index: number) =>
  JSON.parse(wire.requests[index]!.body) as { operation: string; jobs: number[] };

it("asks for 1,000 jobs at a time, goes past refusals and tells of all", async () => {
  const all = operateAll(jobsUpTo(2500), "cancel")("token");
  for (const [index, count] of [1000, 1000, 500].entries()) {
    while (wire.requests.length <= index) await vi.advanceTimersByTimeAsync(0);
    const { operation, jobs } = asked(index);
    expect([operation, jobs.length, jobs[0]]).toEqual(["cancel", count, 1000 * index + 1]);
    const results = jobs.map((id) =>
      id % 1000 === 7 ? { id, refusal: `job ${id} has ended` } : { id, job: job({ id, state: "cancelled" }) },
    );
    await wire.requests[index]!.answer({ results });
  }
  expect(await all).toEqual({
    done: 2497,
    refusals: [7, 1007, 2007].map((id) => `job ${id} has ended`),
  });
  expect(wire.requests).toHaveLength(3);
  expect(cluster.jobs.all.value.get(2500)?.state).toBe("cancelled");
});

it("goes on from where its token was refused", async () => {
  const run = operateAll(jobsUpTo(1001), "hold");
  const refused = run("old").then(
    () => null,
    (error: unknown) => error,
  );
  await wire.requests[0]!.answer({ results: asked(0).jobs.map((id) => ({ id, job: job({ id }) })) });
  await wire.requests[1]!.answer({ title: "no" }, 401);
  expect(await refused).toBeInstanceOf(Problem);
  const again = run("new");
  expect(asked(2).jobs).toEqual([1001]);
  await wire.requests[2]!.answer({ results: [{ id: 1001, job: job({ id: 1001 }) }] });
  expect(await again).toEqual({ done: 1001, refusals: [] });
});

it("gives the others their priority when one has ended", async () => {
  const all = prioritiseAll(jobsUpTo(3), 9)("token");
  await wire.requests[0]!.answer(job({ id: 1 }));
  await wire.requests[1]!.answer({ detail: "job 2 has already ended" }, 409);
  await wire.requests[2]!.answer(job({ id: 3 }));
  expect(await all).toEqual({ done: 2, refusals: ["job 2 has already ended"] });
});

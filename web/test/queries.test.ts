// Fetching by key, with a fake clock and a fake coordinator.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Problem, Unreachable } from "../src/api/problem";
import { Queries, type Asking } from "../src/state/queries";

interface Asked {
  asking: Asking<string>;
  answer(data: string): Promise<void>;
  refuse(error: unknown): Promise<void>;
}

let asked: Asked[];
let refused: number;
let queries: Queries;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  asked = [];
  refused = 0;
  queries = new Queries({ onRefused: () => (refused += 1) });
  queries.go();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const settle = async () => void (await vi.advanceTimersByTimeAsync(0));

const ask = (asking: Asking<string>) =>
  new Promise<string>((resolve, reject) => {
    asked.push({
      asking,
      answer: (data) => (resolve(data), settle()),
      refuse: (error) => (reject(error as Error), settle()),
    });
  });
const busy = (retryAfterMs: number) => new Problem(503, { title: "busy" }, retryAfterMs);

it("has one request under way and one pending, however often it is refreshed", async () => {
  const { answer, refresh } = queries.read("why 7", ask);
  for (let times = 0; times < 22; times += 1) refresh();
  expect(asked).toHaveLength(1);
  await asked[0]!.answer("first");
  expect(answer.value.data).toBe("first");
  expect(asked).toHaveLength(2);
  await asked[1]!.answer("second");
  expect(answer.value).toMatchObject({ data: "second", error: null, stale: false });
  expect(asked).toHaveLength(2);
});

it("shares one request among the readers of a key, and aborts it when the last has left", async () => {
  const one = queries.read("job 7", ask);
  const two = queries.read("job 7", ask);
  expect(asked).toHaveLength(1);
  one.release();
  one.release();
  expect(asked[0]!.asking.signal.aborted).toBe(false);
  two.release();
  expect(asked[0]!.asking.signal.aborted).toBe(true);
  await asked[0]!.answer("late");
  expect(two.answer.value.data).toBeNull();
  expect(queries.read("job 7", ask).answer.value.data).toBeNull();
  expect(asked).toHaveLength(2);
});

describe("a request that failed", () => {
  it("is made again, later each time, and keeps what was known on show", async () => {
    const { answer, refresh } = queries.read("job 7", ask);
    await asked[0]!.answer("known");
    refresh();
    await asked[1]!.refuse(new Unreachable("dropped"));
    expect(answer.value).toMatchObject({ data: "known", stale: true, at: Date.now() });
    expect(answer.value.error).toBeInstanceOf(Unreachable);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(3);
    expect(asked[2]!.asking.failures).toBe(1);
    await asked[2]!.refuse(new Unreachable("dropped"));
    await vi.advanceTimersByTimeAsync(1999);
    expect(asked).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1);
    await asked[3]!.answer("new");
    expect(answer.value).toMatchObject({ data: "new", error: null, stale: false });
  });

  it("waits for as long as the coordinator asked for, also when it is refreshed meanwhile", async () => {
    const { refresh } = queries.read("job 7", ask);
    await asked[0]!.refuse(busy(7000));
    refresh();
    await vi.advanceTimersByTimeAsync(6999);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toHaveLength(2);
  });

  it("is made again at once where a person asks for it", async () => {
    const { answer, retry } = queries.read("job 7", ask);
    await asked[0]!.refuse(busy(7000));
    retry();
    expect(asked).toHaveLength(2);
    await asked[1]!.answer("there now");
    expect(answer.value).toMatchObject({ data: "there now", error: null });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(2);
  });

  it("is not made again where it would be refused again, until something has changed", async () => {
    const { answer, refresh } = queries.read("job 7", ask);
    await asked[0]!.refuse(new Problem(404, {}));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
    refresh();
    await asked[1]!.answer("there now");
    expect(answer.value.error).toBeNull();
  });

  it("is not made again for nobody", async () => {
    queries.read("job 7", ask).release();
    const { release } = queries.read("job 7", ask);
    await asked[1]!.refuse(busy(0));
    release();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(2);
  });

  it("tells when reading is refused", async () => {
    queries.read("job 7", ask);
    await asked[0]!.refuse(new Problem(401, {}));
    expect(refused).toBe(1);
  });
});

it("asks nothing while it is held, and then for what is missing or failed only", async () => {
  const known = queries.read("known", ask);
  queries.read("failed", ask);
  await asked[0]!.answer("known");
  await asked[1]!.refuse(new Unreachable("gone"));
  queries.hold();
  queries.read("missing", ask);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(2);
  queries.go();
  expect(asked).toHaveLength(4);
  expect(known.answer.value.stale).toBe(false);
});

it("marks everything stale that a reset makes so, also what a request under way will bring", async () => {
  const { answer } = queries.read("jobs", ask);
  await asked[0]!.answer("before");
  queries.invalidate();
  queries.invalidate();
  expect(answer.value.stale).toBe(true);
  await asked[1]!.answer("from before the second");
  expect(answer.value).toMatchObject({ data: "from before the second", stale: true });
  await asked[2]!.answer("after");
  expect(answer.value).toMatchObject({ data: "after", stale: false });
});

it("keeps an answer for the next reader where it was told to, and asks again if it has gone stale", async () => {
  const first = queries.read("jobs", ask, { kept: true });
  await asked[0]!.answer("all");
  first.release();
  const second = queries.read("jobs", ask, { kept: true });
  expect(second.answer.value.data).toBe("all");
  expect(asked).toHaveLength(1);
  second.release();
  queries.invalidate();
  expect(asked).toHaveLength(1);
  queries.read("jobs", ask, { kept: true });
  expect(asked).toHaveLength(2);
});

it("shows parts of a long answer as they come, and changes one by what is known from elsewhere", async () => {
  const { answer, update } = queries.read("jobs", ask);
  update((data) => data + "!");
  asked[0]!.asking.show("half");
  expect(answer.value.data).toBe("half");
  await asked[0]!.answer("whole");
  update((data) => data + "!");
  expect(answer.value.data).toBe("whole!");
});

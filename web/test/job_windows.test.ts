// Lists of jobs by windows: what is requested when, and that what is in sight becomes true whatever happens.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job, LiveMessage } from "../src/api/types";
import { viewFrom } from "../src/model/job_list";
import { idAt } from "../src/model/job_rows";
import { Cluster } from "../src/state/cluster";
import { JobViews } from "../src/state/job_views";
import { doubtMs, JobWindows, paceMs, refreshMs } from "../src/state/job_windows";
import { Queries } from "../src/state/queries";
import { ListServer } from "./list_server";
import { randomOf } from "./random";
import { job } from "./samples";
import { Wire, type Request } from "./wire";

let wire: Wire;
let queries: Queries;
let cluster: Cluster;

const begin = () => {
  queries = new Queries({ onRefused: () => undefined });
  cluster = new Cluster(() => queries.invalidate());
  queries.go();
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  wire = new Wire();
  begin();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const pass = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms));
const flushMs = 250;
const made = (address: string, experiment: number | null = null) => {
  const view = viewFrom(new URLSearchParams(address), experiment);
  return new JobWindows(view, queries, cluster, { startedAt: -Infinity });
};
const open = (address = "", experiment: number | null = null) => {
  const windows = made(address, experiment);
  return { windows, close: windows.open() };
};
const told = (id: number, data: Job): LiveMessage => ({ id, event: "job", data });
const queryOf = ({ path }: Request) => Object.fromEntries(new URLSearchParams(path.split("?")[1]));
const placeOf = (request: Request) => [Number(queryOf(request)["offset"]), Number(queryOf(request)["limit"])];
const places = () => wire.requests.map(placeOf);
/** Requested, not answered and still awaited. */
const underWay = (answered: ReadonlySet<Request>) =>
  wire.requests.filter((request) => !request.signal.aborted && !answered.has(request)).length;

/** The newest first, numbered from `newest` down to 1. */
async function answer(request: Request, newest: number): Promise<void> {
  const [offset, limit] = placeOf(request) as [number, number];
  const ids = Array.from({ length: newest }, (_, index) => newest - index).slice(offset, offset + limit);
  const jobs = ids.map((id) => job({ id, revision: 1 }));
  await request.answer({ jobs, total: newest, states: { running: newest } });
}

/** Opens a list of so many jobs and answers until no request is left. */
async function opened(count: number, address = "", experiment: number | null = null) {
  const list = open(address, experiment);
  await answerAll(count);
  return list;
}

async function answerAll(count: number): Promise<void> {
  let known = 0;
  while (known < wire.requests.length) {
    for (; known < wire.requests.length; known += 1)
      if (!wire.requests[known]!.signal.aborted) await answer(wire.requests[known]!, count);
    await pass(paceMs);
  }
  wire.requests.length = 0;
}

describe("asks", () => {
  it("for the windows in sight in one reading, then for one beside them, and for no more", async () => {
    const windows = made("q=bert&state=running", 3);
    windows.look({ top: 180, bottom: 215 });
    windows.open();
    expect(queryOf(wire.requests[0]!)).toEqual({
      ...{ experiment: "3", q: "bert", state: "running", sort: "-id" },
      ...{ offset: "100", limit: "200" },
    });
    for (const asked of [1, 2, 3]) {
      expect(wire.requests).toHaveLength(asked);
      await answer(wire.requests[asked - 1]!, 1000);
      await pass(10 * paceMs);
    }
    expect(places()).toEqual([
      [100, 200],
      [300, 100],
      [0, 100],
    ]);
    expect(windows.listed.value).toMatchObject({ total: 1000, states: { running: 1000 } });
  });

  it("nothing of a fast scroll but what the reader comes to rest at, a few times a second, one at a time", async () => {
    const { windows } = await opened(10_000);
    for (let frame = 1; frame <= 120; frame += 1) {
      windows.look({ top: frame * 70, bottom: frame * 70 + 25 });
      await pass(16);
      expect(underWay(new Set())).toBeLessThanOrEqual(1);
    }
    expect(wire.requests.length).toBeLessThanOrEqual((120 * 16) / paceMs + 1);
    await pass(paceMs);
    expect(placeOf(wire.requests.at(-1)!)).toEqual([8400, 100]);
    expect(wire.requests.at(-1)!.signal.aborted).toBe(false);
  });

  it("as often while a filter is typed as while the reader scrolls", async () => {
    const views = new JobViews(queries, cluster);
    let close = () => undefined as void;
    for (const text of ["b", "be", "ber", "bert", "bert-", "bert-l"]) {
      close();
      close = views.of(viewFrom(new URLSearchParams({ q: text }))).open();
      await pass(20);
    }
    await pass(paceMs);
    expect(wire.requests.map((request) => queryOf(request)["q"])).toEqual(["b", "bert-", "bert-l"]);
    expect(wire.requests[0]!.signal.aborted).toBe(true);
  });

  it("again after a failure, and says meanwhile why", async () => {
    const { windows } = open();
    await wire.requests[0]!.answer({ title: "busy" }, 503, { "Retry-After": "2" });
    expect(windows.reading.value!.answer.value.error).not.toBeNull();
    await pass(2000);
    await answer(wire.requests[1]!, 10);
    expect(windows.reading.value!.answer.value.error).toBeNull();
    expect(windows.listed.value.total).toBe(10);
  });

  it("no more once it is closed, and for what was in sight when it is opened again", async () => {
    const { windows, close } = await opened(1000);
    windows.look({ top: 400, bottom: 425 });
    await pass(paceMs);
    await answerAll(1000);
    close();
    cluster.receive([told(1, job({ state: "failed" }))]);
    await pass(doubtMs);
    expect(wire.requests).toHaveLength(0);
    expect(idAt(windows.listed.value, 400)).toBe(600);
    windows.open();
    expect(places()).toEqual([[400, 100]]);
  });
});

describe("is asked for again", () => {
  it("at once when a job has moved, and then once a second, the windows in sight alone", async () => {
    await opened(1000);
    await pass(refreshMs);
    for (let turn = 1; turn <= 20; turn += 1) {
      cluster.receive([told(turn, job({ id: 5000 + turn, state: turn % 2 ? "failed" : "running" }))]);
      await pass(flushMs);
      for (const request of wire.requests) if (placeOf(request)[0] === 0) await answer(request, 1000);
    }
    expect(new Set(places().map(String))).toEqual(new Set(["0,100"]));
    expect(wire.requests.length).toBeGreaterThanOrEqual(4);
    expect(wire.requests.length).toBeLessThanOrEqual(6);
  });

  it("when a job has moved while the answer was on its way, which may lack it", async () => {
    open();
    cluster.receive([told(1, job({ id: 7, state: "failed" }))]);
    await pass(flushMs);
    await answer(wire.requests[0]!, 50);
    expect(wire.requests).toHaveLength(1);
    await pass(refreshMs);
    expect(wire.requests).toHaveLength(2);
  });

  it("not for a training's progress, but where that makes the order", async () => {
    const step = (id: number, value: number) => told(id, job({ id: 7, latest: { "train/loss": value } }));
    for (const [address, asked] of [
      ["", 0],
      ["sort=loss", 1],
    ] as const) {
      begin();
      const { close } = await opened(50, address);
      cluster.receive([step(1, 3)]);
      await pass(2 * refreshMs);
      await answerAll(50);
      cluster.receive([step(2, 2)]);
      await pass(2 * refreshMs);
      expect(wire.requests, address).toHaveLength(asked);
      close();
      wire.requests.length = 0;
    }
  });

  it("half a minute after news that seemed to move nothing, in case they did", async () => {
    await opened(50);
    cluster.receive([told(1, job({ id: 7 }))]);
    await pass(2 * refreshMs);
    await answerAll(50);
    cluster.receive([told(2, job({ id: 7, latest: {} }))]);
    await pass(doubtMs - 2 * refreshMs);
    expect(wire.requests).toHaveLength(0);
    await pass(3 * refreshMs);
    expect(wire.requests).toHaveLength(1);
    await answerAll(50);
    await pass(2 * doubtMs);
    expect(wire.requests).toHaveLength(0);
  });

  it("not for jobs of other experiments", async () => {
    await opened(50, "", 3);
    cluster.receive([told(1, job({ id: 7, experiment: 4 }))]);
    await pass(doubtMs);
    expect(wire.requests).toHaveLength(0);
    cluster.receive([told(2, job({ id: 8, experiment: 3 }))]);
    await pass(refreshMs);
    expect(wire.requests).toHaveLength(1);
  });

  it("at once after a reset", async () => {
    await opened(50);
    cluster.receive([{ id: 9, event: "reset" }]);
    await pass(0);
    expect(wire.requests).toHaveLength(1);
  });
});

describe("what is being read", () => {
  const grow = async (address: string, by: number) => {
    const { windows } = await opened(1000, address);
    windows.look({ top: 260, bottom: 290 });
    await answerAll(1000);
    await pass(refreshMs);
    cluster.receive([told(1, job({ id: 1001 }))]);
    await pass(flushMs + paceMs);
    await answerAll(1000 + by);
    return windows;
  };

  it("is found again where the list has grown by more than a window above it", async () => {
    const { listed, sight } = await grow("", 230);
    expect(idAt(listed.value, 260 + 230)).toBe(740);
    expect(idAt(listed.value, 260 + 230 + 30)).toBe(710);
    expect(sight).toEqual({ top: 490, bottom: 520 });
  });

  it("is not looked for in an order that moves by itself", async () => {
    const { listed, sight } = await grow("sort=loss", 230);
    expect(idAt(listed.value, 260 + 230)).toBeUndefined();
    expect(sight).toEqual({ top: 260, bottom: 290 });
  });
});

it("keeps the windows nearest to the reader, and the jobs of the lists that were looked at last", async () => {
  const views = new JobViews(queries, cluster);
  const windows = views.of(viewFrom(new URLSearchParams()));
  const close = windows.open();
  await answerAll(10_000);
  for (let top = 0; top < 8000; top += 90) {
    windows.look({ top, bottom: top + 25 });
    await pass(paceMs);
    await answerAll(10_000);
  }
  const kept = [...windows.listed.value.windows.keys()].sort((a, b) => a - b);
  expect(kept.length).toBeLessThanOrEqual(12);
  expect(kept.at(-1)).toBe(80);
  expect(cluster.jobs.all.value.size).toBeLessThanOrEqual(3000);
  expect(cluster.jobs.all.value.has(idAt(windows.listed.value, 7950)!)).toBe(true);
  close();
  for (const text of ["a", "b", "c"]) views.of(viewFrom(new URLSearchParams({ q: text })));
  expect(views.of(viewFrom(new URLSearchParams()))).toBe(windows);
});

/** Long enough for a busy machine. */
const patience = 60_000;
const addresses = ["", "state=running", "sort=-priority", "sort=loss", "state=running&sort=-priority"];

describe("ends in the server's state after any interleaving of windows, events, resets and answers", () => {
  const ends = async (merges: boolean, quietMs: number) => {
    for (let seed = 1; seed <= 100; seed += 1) {
      wire.requests.length = 0;
      begin();
      const random = randomOf(seed);
      const server = new ListServer(wire, cluster, 110 + random(160), random, merges);
      const { windows, close } = open(addresses[random(addresses.length)]);
      const deeds = deedsOf(server, windows, random);
      for (let turn = 10 + random(60); turn > 0; turn -= 1) {
        await deeds[random(deeds.length)]!();
        expect(underWay(server.answered), `seed ${seed}`).toBeLessThanOrEqual(2);
      }
      for (let quiet = 0; quiet < 10 && (quiet === 0 || !server.idle); quiet += 1) {
        while (!server.idle) {
          server.tell();
          server.send(5);
          server.takeRequest();
          await server.answer();
          await pass(paceMs);
        }
        await pass(quietMs);
      }
      expect(server.idle, `seed ${seed}`).toBe(true);
      expectTrue(windows, server, `seed ${seed}`);
      close();
    }
  };

  it("soon, where every change is told", () => ends(false, 2 * refreshMs), patience);
  it(
    "in the end, where changes that come fast are told as one",
    () => ends(true, doubtMs + refreshMs),
    patience,
  );
});

function deedsOf(server: ListServer, windows: JobWindows, random: (below: number) => number) {
  const look = () => {
    const top = random(Math.max(1, (windows.listed.value.total ?? 100) - 10));
    windows.look({ top, bottom: top + 25 });
  };
  const deeds: (() => void | Promise<void>)[] = [
    look,
    () => server.change(),
    () => server.change(),
    () => server.submit(),
    () => server.tell(),
    () => server.tell(),
    () => server.send(1 + random(3)),
    () => server.takeRequest(),
    () => server.takeRequest(),
    () => server.answer(),
    () => server.answer(),
    () => void (random(4) === 0 && server.lose()),
    () => (random(4) === 0 ? server.refuse() : undefined),
    () => pass(random(600)),
  ];
  return deeds;
}

function expectTrue(windows: JobWindows, server: ListServer, when: string): void {
  const { listed, view, sight } = windows;
  const { jobs, states } = server.listOf(view);
  expect(listed.value.total, when).toBe(jobs.length);
  expect(listed.value.states, when).toEqual(states);
  const last = Math.min(jobs.length - 1, sight.bottom);
  const shown = (index: number) => cluster.jobs.all.value.get(idAt(listed.value, index) ?? -1);
  const figures = ({ id, name, state, priority }: Job) => ({ id, name, state, priority });
  for (let index = Math.min(sight.top, last); index <= last; index += 1)
    expect(figures(shown(index)!), `${when}, row ${index}`).toEqual(figures(jobs[index]!));
}

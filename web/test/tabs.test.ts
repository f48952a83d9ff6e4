// Tabs of one origin: they share one stream, and hidden tabs release it.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lettingGoMs, TabLink, type Browser, type Channel } from "../src/state/tabs";
import type { Connection } from "../src/api/live";
import type { LiveMessage } from "../src/api/types";
import { greeting, message, Wire } from "./wire";

/** What tabs of one origin share: locks, granted in the order of the requests, and channels between the tabs. */
class Origin {
  /** How long it takes to grant a free lock. */
  grantMs = 0;
  private holder: (() => void) | null = null;
  private readonly waiting: (() => void)[] = [];
  private readonly channels = new Set<Channel>();

  readonly locks = {
    request: (_name: string, options: LockOptions, held: () => Promise<void>) =>
      new Promise<void>((resolve, reject) => {
        const refuse = () => reject(new DOMException("no longer", "AbortError"));
        const grant = () => {
          let stolen = false;
          const mine = () => ((stolen = true), refuse());
          this.holder = mine;
          void held().then(() => {
            if (stolen) return;
            resolve();
            this.holder = null;
            this.waiting.shift()?.();
          });
        };
        options.signal?.addEventListener("abort", () => {
          if (!this.waiting.includes(grant)) return;
          this.waiting.splice(this.waiting.indexOf(grant), 1);
          refuse();
        });
        if (options.steal) this.holder?.();
        if (options.steal || this.holder === null) setTimeout(grant, this.grantMs);
        else this.waiting.push(grant);
        this.holder ??= () => undefined;
      }),
  } as unknown as Browser["locks"];

  channel(): Channel {
    const channel: Channel = {
      onmessage: null,
      postMessage: (data) => {
        for (const other of this.channels)
          if (other !== channel)
            queueMicrotask(() =>
              other.onmessage?.({ data: structuredClone(data) } as MessageEvent<typeof data>),
            );
      },
      close: () => void this.channels.delete(channel),
    };
    this.channels.add(channel);
    return channel;
  }
}

class Tab {
  hidden = false;
  readonly messages: LiveMessage[] = [];
  readonly states: string[] = [];
  followed = 0;
  hasToken = false;
  private changed: () => void = () => undefined;
  readonly link: TabLink;

  constructor(origin: Origin, locks: Browser["locks"] = origin.locks) {
    const handlers = {
      onConnection: ({ state }: Connection) => void this.states.push(state),
      onMessages: (some: LiveMessage[]) => void this.messages.push(...some),
      onHealth: () => undefined,
      onFollowing: () => void (this.followed += 1),
      onLocked: async () => this.hasToken,
    };
    this.link = new TabLink("podium", handlers, {
      locks,
      channel: () => origin.channel(),
      onVisibility: (changed) => void (this.changed = changed),
      isHidden: () => this.hidden,
    });
    this.link.start();
  }

  async show(shown: boolean): Promise<void> {
    this.hidden = !shown;
    this.changed();
    await pass(0);
  }

  get state(): string {
    return this.states.at(-1)!;
  }
  get heard(): string[] {
    return this.messages.map(({ event, id }) => `${event} ${id}`);
  }
}

const pass = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms));
const open = () => wire.streams.filter((stream) => !stream.broken());
let wire: Wire;
let origin: Origin;

beforeEach(() => {
  vi.useFakeTimers();
  wire = new Wire();
  origin = new Origin();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const tabs = async (count: number): Promise<Tab[]> => {
  const all: Tab[] = [];
  for (let number = 0; number < count; number += 1) {
    all.push(new Tab(origin));
    await pass(0);
    if (number === 0) await wire.streams[0]!.send(greeting);
  }
  return all;
};

it("seven tabs have one stream, and all of them hear what it tells", async () => {
  const all = await tabs(7);
  expect(all.map(({ state }) => state)).toEqual(Array(7).fill("live"));
  await wire.streams[0]!.send(message(101, "job", { id: 1 }));
  expect(all.map(({ heard }) => heard)).toEqual(Array(7).fill(["job 101"]));
  expect(wire.streams).toHaveLength(1);
  expect(all.map(({ followed }) => followed)).toEqual([0, 1, 1, 1, 1, 1, 1]);
});

it("a tab lets go of the stream when it has been hidden for a while, and another goes on from where it was", async () => {
  const [one, two] = (await tabs(2)) as [Tab, Tab];
  await wire.streams[0]!.send(message(101, "job", { id: 1 }));
  await one.show(false);
  await pass(lettingGoMs - 1);
  expect(wire.streams).toHaveLength(1);
  await pass(1);
  expect(open()).toHaveLength(1);
  expect(wire.streams[1]!.lastId).toBe(101);
  await wire.streams[1]!.send(greeting + message(102, "job", { id: 1 }));
  expect(two.heard).toEqual(["job 101", "job 102"]);
  expect(two.state).toBe("live");
  expect(one.heard).toEqual(["job 101"]);
});

it("a glance at another tab costs nothing", async () => {
  const [one] = (await tabs(1)) as [Tab];
  await one.show(false);
  await pass(lettingGoMs - 1);
  await one.show(true);
  await pass(2 * lettingGoMs);
  expect(one.state).toBe("live");
  expect(wire.streams).toHaveLength(1);
});

it("alone again, it goes on after the last message it had", async () => {
  const [one] = (await tabs(1)) as [Tab];
  await wire.streams[0]!.send(message(101, "job", { id: 1 }));
  await one.show(false);
  await pass(lettingGoMs);
  expect(open()).toHaveLength(0);
  await one.show(true);
  expect(wire.streams[1]!.lastId).toBe(101);
  expect(one.state).toBe("connecting");
  await wire.streams[1]!.send(greeting);
  expect(one.state).toBe("live");
});

it("a tab that comes back is told by the leader what it has missed", async () => {
  const [, two] = (await tabs(2)) as [Tab, Tab];
  await wire.streams[0]!.send(message(101, "job", { id: 1 }));
  await two.show(false);
  await pass(lettingGoMs);
  await wire.streams[0]!.send(message(102, "job", { id: 1 }) + message(103, "node", { id: "a" }));
  expect(two.heard).toEqual(["job 101"]);
  await two.show(true);
  expect(two.heard).toEqual(["job 101", "job 102", "node 103"]);
  expect(two.state).toBe("live");
  expect(wire.streams).toHaveLength(1);
});

it("a tab that comes back to a leader that goes without an answer leads from where it was itself", async () => {
  const [one] = (await tabs(1)) as [Tab];
  await wire.streams[0]!.send(message(101, "job", { id: 1 }));
  await one.show(false);
  await pass(lettingGoMs);
  origin.grantMs = 50;
  await one.show(true);
  const leader = origin.channel();
  leader.postMessage({
    word: "messages",
    messages: [{ id: 103, event: "node", data: { id: "a" } } as unknown as LiveMessage],
  });
  await pass(50);
  expect(wire.streams[1]!.lastId).toBe(101);
  expect(one.heard).toEqual(["job 101"]);
});

it("a tab that comes back to more than the leader remembers fetches everything again", async () => {
  const [, two] = (await tabs(2)) as [Tab, Tab];
  await two.show(false);
  await pass(lettingGoMs);
  await wire.streams[0]!.send(
    Array.from({ length: 2100 }, (_, index) => message(101 + index, "node", { id: "a" })).join(""),
  );
  await two.show(true);
  expect(two.heard).toEqual(["reset 2200"]);
});

it("followers whose leader lacks what they have missed are told to fetch again", async () => {
  const [one, two] = (await tabs(2)) as [Tab, Tab];
  await two.show(false);
  await pass(lettingGoMs);
  await wire.streams[0]!.send(message(101, "job", { id: 1 }));
  await one.show(false);
  await pass(lettingGoMs);
  await one.show(true);
  await two.show(true);
  expect(wire.streams[1]!.lastId).toBe(101);
  expect(two.heard).toEqual(["reset 101"]);
});

it("a tab that asked before another led is welcomed all the same", async () => {
  origin.grantMs = 10;
  const one = new Tab(origin);
  const two = new Tab(origin);
  await pass(10);
  await wire.streams[0]!.send(greeting);
  expect([one.state, two.state]).toEqual(["live", "live"]);
  expect([one.followed, two.followed]).toEqual([0, 1]);
});

it("a follower's wish to try again reaches the leader", async () => {
  const [one, two] = (await tabs(2)) as [Tab, Tab];
  wire.health = null;
  await wire.streams[0]!.end();
  await pass(500);
  expect([one.state, two.state]).toEqual(["offline", "offline"]);
  wire.health = { live_id: 100, token: "nobody" };
  two.link.retryNow();
  await pass(0);
  await wire.streams[1]!.send(greeting);
  expect([one.state, two.state]).toEqual(["live", "live"]);
});

it("a follower that is given a token leads with it where the leader has none", async () => {
  wire.streamStatus = 401;
  const one = new Tab(origin);
  const two = new Tab(origin);
  await pass(0);
  expect([one.state, two.state]).toEqual(["locked", "locked"]);
  wire.streamStatus = 200;
  two.hasToken = true;
  two.link.retryNow();
  await pass(0);
  await wire.streams.at(-1)!.send(greeting);
  expect([one.state, two.state]).toEqual(["live", "live"]);
  expect(open()).toHaveLength(1);
});

it("without locks every tab that is seen has a stream, and one that is not seen has none", async () => {
  const one = new Tab(origin, null);
  new Tab(origin, null);
  await pass(0);
  expect(open()).toHaveLength(2);
  await one.show(false);
  await pass(lettingGoMs);
  expect(open()).toHaveLength(1);
});

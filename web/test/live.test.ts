// When the stream is open, when the dashboard polls instead, and what it reports about the connection.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { greetingMs, LiveStream, pollMs, type Connection } from "../src/api/live";
import { ServerClock } from "../src/api/server_clock";
import type { LiveMessage } from "../src/api/types";
import { greeting, message, Wire } from "./wire";

let wire: Wire;
let states: string[];
let connection: Connection;
let messages: LiveMessage[];
let stream: LiveStream;
let tokenGiven: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  wire = new Wire();
  states = [];
  messages = [];
  tokenGiven = false;
  stream = new LiveStream(
    {
      onConnection: (next) => void states.push((connection = next).state),
      onMessages: (some) => void messages.push(...some),
      onHealth: () => undefined,
      onLocked: async () => tokenGiven,
    },
    null,
  );
});

afterEach(() => {
  stream.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const pass = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms));
const begin = async () => {
  stream.start();
  await pass(0);
};
const ids = () => messages.map(({ event, id }) => `${event} ${id}`);

it("is live only after the stream's greeting, and begins at the position that was told before", async () => {
  await begin();
  expect(wire.streams[0]!.lastId).toBe(100);
  expect(states).toEqual(["connecting"]);
  await wire.streams[0]!.send(greeting);
  expect(states).toEqual(["connecting", "live"]);
});

it("delivers messages and resets in the order in which they came", async () => {
  await begin();
  await wire.streams[0]!.send(
    greeting + message(101, "job", { id: 1 }) + message(105, "reset") + message(106, "node", { id: "a" }),
  );
  expect(ids()).toEqual(["job 101", "reset 105", "node 106"]);
});

it("turns a bad message into a reset and loses none of the good ones around it", async () => {
  await begin();
  await wire.streams[0]!.send(
    greeting + message(101, "job", { id: 1 }) + message(102, "job", "{oops") + message(103, "job", { id: 3 }),
  );
  expect(ids()).toEqual(["job 101", "reset 102", "job 103"]);
});

it("goes on after a break where it ended, without a reset", async () => {
  await begin();
  await wire.streams[0]!.send(greeting + message(101, "job", { id: 1 }));
  await wire.streams[0]!.end();
  await pass(500);
  expect(wire.streams[1]!.lastId).toBe(101);
  expect(states).toEqual(["connecting", "live"]);
  expect(ids()).toEqual(["job 101"]);
});

it("gives up a stream that has been silent for longer than the coordinator ever is", async () => {
  await begin();
  await wire.streams[0]!.send(greeting);
  await pass(39_000);
  expect(wire.streams).toHaveLength(1);
  await pass(2000);
  expect(wire.streams).toHaveLength(2);
});

describe("behind something that holds the stream back", () => {
  const held = async () => {
    wire.streamStatus = null;
    await begin();
    await pass(greetingMs);
  };

  it("polls from when the greeting is overdue, and goes on trying", async () => {
    await begin();
    await pass(greetingMs - 1);
    expect(states).toEqual(["connecting"]);
    await pass(1);
    expect(states).toEqual(["connecting", "polling"]);
    await pass(120_000);
    expect(states).toEqual(["connecting", "polling"]);
    expect(wire.streams.length).toBeGreaterThan(2);
    wire.streamStatus = 200;
    for (const { length } = wire.streams; wire.streams.length === length;) await pass(1000);
    await wire.streams.at(-1)!.send(greeting);
    expect(states).toEqual(["connecting", "polling", "live"]);
    const asked = wire.healthAsked;
    await pass(3 * pollMs);
    expect(wire.healthAsked).toBe(asked);
  });

  it("fetches again only when something has happened", async () => {
    await held();
    await pass(3 * pollMs);
    expect(ids()).toEqual([]);
    wire.health!.live_id = 120;
    await pass(2 * pollMs);
    expect(ids()).toEqual(["reset 120"]);
  });

  it("says so when the coordinator goes away", async () => {
    await held();
    wire.health = null;
    await pass(pollMs + 500);
    expect(states.at(-1)).toBe("offline");
    wire.health = { live_id: 120, token: "nobody" };
    await pass(60_000);
    expect(states.at(-1)).toBe("polling");
  });

  it("does not hurry when the stream is refused at once", async () => {
    wire.streamStatus = 503;
    await begin();
    await pass(60_000);
    expect(states).toEqual(["connecting", "polling"]);
    expect(wire.streams.length).toBeLessThan(10);
  });
});

it("is offline while the coordinator is away, and asks again later each time, or at once when told to", async () => {
  wire.health = null;
  await begin();
  expect(states).toEqual(["connecting", "offline"]);
  await pass(1000);
  expect(wire.healthAsked).toBe(2);
  wire.health = { live_id: 5, token: "nobody" };
  stream.retryNow();
  await pass(0);
  await wire.streams[0]!.send(greeting);
  expect(states.at(-1)).toBe("live");
});

it("tells by the coordinator's clock since when it is away, and when it is asked again", async () => {
  const aheadMs = -600_000;
  vi.spyOn(ServerClock.prototype, "aheadMs", "get").mockReturnValue(aheadMs);
  wire.health = null;
  await begin();
  const sinceMs = Date.now() + aheadMs;
  expect(connection).toEqual({ state: "offline", sinceMs, retryAtMs: sinceMs + 1000 });
});

it("is locked until there is a token", async () => {
  wire.streamStatus = 401;
  await begin();
  expect(states.at(-1)).toBe("locked");
  await pass(60_000);
  expect(wire.streams).toHaveLength(1);
  wire.streamStatus = 200;
  stream.retryNow();
  await pass(0);
  await wire.streams[1]!.send(greeting);
  expect(states.at(-1)).toBe("live");
});

import { expect, it } from "vitest";
import type { Device, Drain, Node } from "../src/api/types";
import {
  describeDevices,
  describeDrain,
  describeReservation,
  describeUnknown,
  nodeFilterFrom,
  showNodes,
  summarise,
  deviceUse,
} from "../src/model/node_list";

const device = (changes: Partial<Device> = {}): Device => ({
  index: 0,
  kind: "gpu",
  model: "NVIDIA H200",
  memory_bytes: 0,
  threads: 0,
  artificial: false,
  health: "",
  job: null,
  ...changes,
});

const node = (id: string, changes: Partial<Node> = {}): Node => ({
  id,
  revision: 1,
  address: "10.0.0.1",
  state: "up",
  agent_version: "0.1.0",
  labels: {},
  operator_labels: {},
  drain: null,
  reservation: null,
  last_seen_ms: 0,
  clock: null,
  unknown: null,
  devices: [],
  ...changes,
});

const shown = (nodes: Node[], query = "") =>
  showNodes(nodes, nodeFilterFrom(new URLSearchParams(query))).map(({ id }) => id);

it("shows trouble first, then nodes in the order people count", () => {
  expect(
    shown([
      node("node-10"),
      node("node-2"),
      node("node-30", { state: "lost" }),
      node("node-4", { state: "unknown" }),
    ]),
  ).toEqual(["node-30", "node-4", "node-2", "node-10"]);
});

it("filters by name, address, device model, label and state", () => {
  const nodes = [
    node("a", { labels: { rack: "r1" }, devices: [device()] }),
    node("b", { address: "10.9.9.9", state: "lost" }),
  ];
  expect(shown(nodes, "q=rack:r1")).toEqual(["a"]);
  expect(shown(nodes, "q=10.9")).toEqual(["b"]);
  expect(shown(nodes, "q=h200")).toEqual(["a"]);
  expect(shown(nodes, "state=lost")).toEqual(["b"]);
});

it("counts every device once, by what it is good for", () => {
  const devices = [device(), device({ job: 3 }), device({ health: "XID 79", job: 3 })];
  const summary = summarise([node("a", { devices }), node("b", { state: "lost", devices: [device()] })], 0);
  expect(summary).toEqual({
    nodes: { up: 1, unknown: 0, lost: 1 },
    devices: { free: 1, busy: 1, unhealthy: 1, away: 1 },
  });
});

it("says what devices a node has", () => {
  expect(
    describeDevices(node("a", { devices: [device(), device(), device({ model: "", kind: "cpu" })] })),
  ).toBe("2 × NVIDIA H200, 1 × CPU");
  expect(describeDevices(node("a"))).toBe("no devices");
});

it("counts the devices of a drained node as away, of one before its window as free", () => {
  const drain = { reason: "new fans", from_ms: null, until_ms: null };
  const use = (changes: Partial<Drain>, nowMs: number, job: number | null = null) =>
    deviceUse(node("a", { drain: { ...drain, ...changes } }), device({ job }), nowMs);
  expect(use({}, 0)).toBe("away");
  expect(use({}, 0, 12)).toBe("busy");
  const window = { from_ms: 5, until_ms: 9 };
  expect([4, 5, 8, 9].map((nowMs) => use(window, nowMs))).toEqual(["free", "away", "away", "free"]);
});

it("says why and until when a node is drained", () => {
  const time = (ms: number) => `t${ms}`;
  const drain = { reason: "new fans", from_ms: null, until_ms: 9 };
  expect(describeDrain(drain, 0, time)).toBe("drained until t9: new fans");
  const reservation = { account: "nlp", reason: "deadline", from_ms: null, until_ms: 9 };
  expect(describeReservation(reservation, 0, time)).toBe("reserved for nlp until t9: deadline");
});

it("a window that is yet to begin is not told as one that has", () => {
  const time = (ms: number) => `t${ms}`;
  const window = { reason: "", from_ms: 5, until_ms: 9 };
  expect(describeDrain(window, 4, time)).toBe("will be drained from t5 until t9");
  expect(describeDrain(window, 5, time)).toBe("drained since t5 until t9");
  expect(describeReservation({ ...window, account: "nlp" }, 4, time)).toBe(
    "will be reserved for nlp from t5 until t9",
  );
});

it("says of tasks that nobody ordered whose they are and what becomes of them", () => {
  const task = { job: 40, attempt: 2, rank: 0 };
  const unknown = { tasks: [task], cluster: null, adopted: null };
  expect(describeUnknown("node-1", unknown)).toBe(
    "1 task that this coordinator did not start: podium nodes adopt node-1",
  );
  expect(describeUnknown("node-1", { ...unknown, tasks: [task, task], cluster: "c0ffee" })).toBe(
    "2 tasks of another cluster: podium nodes adopt node-1",
  );
  expect(describeUnknown("node-1", { ...unknown, adopted: "keep" })).toBe(
    "1 task that this coordinator did not start, which runs to its end",
  );
  expect(describeUnknown("node-1", { ...unknown, tasks: [task, task], adopted: "stop" })).toBe(
    "2 tasks that this coordinator did not start, which are being stopped",
  );
});

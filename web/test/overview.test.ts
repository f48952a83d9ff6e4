import { describe, expect, it } from "vitest";
import type { LedgerTable, Node, Queue, SpecRepository } from "../src/api/types";
import { dayMs } from "../src/format/times";
import {
  apartHidden,
  attentionOf,
  goodputDays,
  mapOf,
  nextStarts,
  pieceText,
  piecesOf,
  readHidden,
  waitingOf,
  writeHidden,
  type AttentionSources,
} from "../src/model/overview";
import { job } from "./samples";

const device = (index: number, changes: Partial<Node["devices"][number]> = {}) => ({
  ...{ index, kind: "gpu" as const, model: "H200", memory_bytes: 1, threads: 1, artificial: false },
  ...{ health: "", job: null },
  ...changes,
});

const node = (id: string, changes: Partial<Node> = {}): Node => ({
  ...{ id, revision: 1, address: "", state: "up", agent_version: "1", labels: {}, operator_labels: {} },
  ...{ reservation: null, drain: null, last_seen_ms: 500, clock: null, unknown: null, devices: [] },
  ...changes,
});

const nowMs = 100 * 86_400_000;
const nothing: AttentionSources = { nodes: [], failed: [], queue: null, repositories: [] };

describe("the map", () => {
  it("has devices in a row that are alike in one piece", () => {
    const devices = [7, 7, null, null, 8].map((each, index) => device(index, { job: each }));
    devices.push(device(5, { health: "fell off the bus" }));
    const pieces = piecesOf(node("n", { devices }), nowMs);
    expect(pieces.map(({ use, job: of, count }) => [use, of, count])).toEqual([
      ["busy", 7, 2],
      ["free", null, 2],
      ["busy", 8, 1],
      ["unhealthy", null, 1],
    ]);
    expect(pieces.map(pieceText)).toEqual([
      "job 7: 2 devices of n",
      "free: 2 devices of n",
      "job 8: 1 device of n",
      "sick: 1 device of n, fell off the bus",
    ]);
  });

  it("stands by switch, else by rack, nodes in their natural order", () => {
    const all = [
      node("node-10", { labels: { switch: "leaf-2", rack: "r1" } }),
      node("node-2", { labels: { switch: "leaf-2" } }),
      node("node-1", { labels: { rack: "r1" } }),
      node("alone"),
    ];
    expect(
      mapOf(all, nowMs).map(({ name, blocks }) => [name, ...blocks.map((each) => each.node.id)]),
    ).toEqual([
      ["", "alone"],
      ["rack r1", "node-1"],
      ["switch leaf-2", "node-2", "node-10"],
    ]);
  });
});

describe("attention", () => {
  const texts = (sources: Partial<AttentionSources>) =>
    attentionOf({ ...nothing, ...sources }, nowMs).map(({ text }) => text);

  it("goes to lost nodes first, then silent ones, sick devices, strange tasks and clocks that are off", () => {
    const nodes = [
      node("clock", { clock: { ahead_ms: -60_000, round_trip_ms: 1, off: true } }),
      node("strange", {
        unknown: { tasks: [{ job: 1, attempt: 1, rank: 0 }], cluster: null, adopted: null },
      }),
      node("sick", { devices: [device(0), device(1, { health: "XID 79" })] }),
      node("silent", { state: "unknown" }),
      node("gone", { state: "lost" }),
      node("well"),
      node("worn", { drain: { reason: "a task could not be ended", from_ms: nowMs - 9, until_ms: null } }),
      node("window", { drain: { reason: "new fans", from_ms: nowMs - 9, until_ms: nowMs + 9 } }),
      node("planned", { drain: { reason: "later", from_ms: nowMs + 9, until_ms: null } }),
    ];
    expect(texts({ nodes })).toEqual([
      "gone is lost",
      "silent is silent",
      "worn is drained: a task could not be ended",
      "strange: 1 task that this coordinator did not start: podium nodes adopt strange",
      "device 1 of sick: XID 79",
      "clock: its clock is 60 s behind; correct it",
    ]);
  });

  it("goes to jobs that failed within a day, the newest first", () => {
    const failed = [1, 30, 2].map((hours, index) =>
      job({ id: index + 1, state: "failed", reason: "x", ended_ms: nowMs - hours * 3_600_000 }),
    );
    expect(texts({ failed })).toEqual(["job 1 quickstart failed: x", "job 3 quickstart failed: x"]);
  });

  it("goes to refused specs, repositories that cannot be read, and jobs held for over a day", () => {
    const repositories = [
      { name: "nlp", error: "no route", checked_ms: 5, specs: [] },
      {
        name: "gpt",
        error: "",
        specs: [
          { path: "a.yaml", state: "refused", problems: [{ where: "a.yaml:1", message: "unknown key" }] },
          { path: "b.yaml", state: "submitted", problems: [] },
        ],
      },
    ] as unknown as SpecRepository[];
    const held = (id: number, hours: number, blocker: string) => ({
      ...{ job: id, name: "h", blocker, submitted_ms: nowMs - hours * 3_600_000 },
    });
    const queue = {
      queues: [],
      apart: { total: 3, jobs: [held(5, 25, "held"), held(6, 2, "held"), held(7, 90, "follows")] },
    } as unknown as Queue;
    expect(texts({ repositories, queue })).toEqual([
      "specs of nlp could not be read: no route",
      "a.yaml of gpt is refused: unknown key",
      "job 5 h is held, and was submitted over a day ago",
    ]);
  });
});

it("the next starts are those that are promised, of all kinds, the first first", () => {
  const waiting = (id: number, reserved_ms: number | null) => ({
    job: id,
    name: "n",
    devices: 4,
    reserved_ms,
  });
  const queue = {
    queues: [
      { kind: "gpu", total: 9, jobs: [waiting(1, 300), waiting(2, null)] },
      { kind: "cpu", total: 2, jobs: [waiting(3, 100)] },
    ],
    apart: { total: 4, jobs: [] },
  } as unknown as Queue;
  expect(nextStarts(queue, 5).map((each) => [each.job, each.kind, each.startMs])).toEqual([
    [3, "cpu", 100],
    [1, "gpu", 300],
  ]);
  expect(nextStarts(queue, 1)).toHaveLength(1);
  expect(waitingOf(queue)).toEqual({ inLine: 11, apart: 4 });
});

it("days of which goodput is not known are left out", () => {
  const rows = [
    { key: "2026-03-01", goodput: 0.8 },
    { key: "2026-03-02", goodput: null },
  ];
  expect(goodputDays({ rows } as unknown as LedgerTable)).toEqual([
    { atMs: Date.UTC(2026, 2, 1, 12), goodput: 0.8 },
  ]);
});

describe("what a person has hidden", () => {
  const lost = (last_seen_ms: number) =>
    attentionOf({ ...nothing, nodes: [node("node-1", { state: "lost", last_seen_ms })] }, nowMs);
  const keysOf = (all: { key: string }[]) => all.map(({ key }) => key);

  it("stays hidden until its day is over, and is shown at once when it happens again", () => {
    const before = lost(500);
    const hidden = new Map([[before[0]!.key, nowMs + dayMs]]);
    expect(apartHidden(before, hidden, nowMs + dayMs - 1)).toEqual({ shown: [], hidden: before });
    expect(apartHidden(before, hidden, nowMs + dayMs)).toEqual({ shown: before, hidden: [] });
    const again = lost(90_000);
    expect(apartHidden(again, hidden, nowMs)).toEqual({ shown: again, hidden: [] });
    expect(keysOf(again)).not.toEqual(keysOf(before));
  });

  it("is kept without what is over, and unreadable it is nothing", () => {
    const hidden = new Map([
      ["lost node-1 500", nowMs + 1],
      ["job 7 400", nowMs],
    ]);
    expect([...readHidden(writeHidden(hidden), nowMs)]).toEqual([["lost node-1 500", nowMs + 1]]);
    for (const text of [null, "", "null", "{", '{"a":"b"}', "7"])
      expect(readHidden(text, nowMs).size).toBe(0);
  });
});

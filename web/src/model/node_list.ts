// Which nodes the page shows, and a summary of the cluster in a few numbers.
import type { Drain, Node, NodeState, Reservation } from "../api/types";

export const nodeStates: NodeState[] = ["up", "unknown", "lost"];

export interface NodeFilter {
  states: ReadonlySet<NodeState>;
  text: string;
}

export function nodeFilterFrom(params: URLSearchParams): NodeFilter {
  const wanted = new Set((params.get("state") ?? "").split(","));
  return { states: new Set(nodeStates.filter((state) => wanted.has(state))), text: params.get("q") ?? "" };
}

export function toggledNodeState(states: ReadonlySet<NodeState>, state: NodeState): string {
  return nodeStates.filter((each) => states.has(each) !== (each === state)).join(",");
}

/** Nodes with trouble first, then by name with numbers in their natural order (node-2 before node-10). */
export function showNodes(nodes: Iterable<Node>, filter: NodeFilter): Node[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (node: Node) =>
    (filter.states.size === 0 || filter.states.has(node.state)) &&
    words.every((word) => wordMatches(node, word));
  const collator = new Intl.Collator("en", { numeric: true });
  return [...nodes]
    .filter(matches)
    .sort(
      (a, b) => nodeStates.indexOf(b.state) - nodeStates.indexOf(a.state) || collator.compare(a.id, b.id),
    );
}

function wordMatches(node: Node, word: string): boolean {
  const [key = "", value] = word.split(":", 2);
  if (value !== undefined && key in node.labels)
    return (node.labels[key] ?? "").toLowerCase().includes(value);
  return `${node.id} ${node.address} ${node.devices[0]?.model ?? ""}`.toLowerCase().includes(word);
}

export type DeviceUse = "free" | "busy" | "unhealthy" | "away";

export function deviceUse(node: Node, device: Node["devices"][number], nowMs: number): DeviceUse {
  if (device.health !== "") return "unhealthy";
  if (device.job !== null) return "busy";
  return node.state === "up" && !isDrained(node, nowMs) ? "free" : "away";
}

/** Whether no job starts there, however short. Before a window begins, the node stays open for short jobs. */
export function isDrained({ drain }: Node, nowMs: number): boolean {
  return drain !== null && hasBegun(drain, nowMs) && (drain.until_ms === null || nowMs < drain.until_ms);
}

const hasBegun = ({ from_ms }: Drain, nowMs: number) => from_ms === null || from_ms <= nowMs;

/**
 * "its clock is 3600 s behind; correct it". The coordinator corrects the times that its tasks report by the
 * difference.
 */
export function describeClock(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `its clock is ${seconds} s ${aheadMs < 0 ? "behind" : "ahead"}; correct it`;
}

/**
 * "2 tasks that this coordinator did not start: podium nodes adopt node-1", or what an operator has decided about
 * them.
 */
export function describeUnknown(node: string, unknown: NonNullable<Node["unknown"]>): string {
  const count = unknown.tasks.length;
  const tasks = `${count} ${count === 1 ? "task" : "tasks"}`;
  const whose = unknown.cluster === null ? "that this coordinator did not start" : "of another cluster";
  const next = {
    ask: `: podium nodes adopt ${node}`,
    keep: count === 1 ? ", which runs to its end" : ", which run to their end",
    stop: count === 1 ? ", which is being stopped" : ", which are being stopped",
  };
  return `${tasks} ${whose}${next[unknown.adopted ?? "ask"]}`;
}

/** "will be drained from 20:00 until 22:00: new fans"; `time` formats the times. */
export const describeDrain = (drain: Drain, nowMs: number, time: (ms: number) => string) =>
  describeWindow("drained", drain, nowMs, time);

/** "reserved for nlp since 20:00: deadline". */
export const describeReservation = (reservation: Reservation, nowMs: number, time: (ms: number) => string) =>
  describeWindow(`reserved for ${reservation.account}`, reservation, nowMs, time);

function describeWindow(what: string, window: Drain, nowMs: number, time: (ms: number) => string): string {
  const begun = hasBegun(window, nowMs);
  const from = window.from_ms === null ? "" : ` ${begun ? "since" : "from"} ${time(window.from_ms)}`;
  const until = window.until_ms === null ? "" : ` until ${time(window.until_ms)}`;
  return `${begun ? "" : "will be "}${what}${from}${until}${window.reason === "" ? "" : `: ${window.reason}`}`;
}

export interface ClusterSummary {
  nodes: Record<NodeState, number>;
  devices: Record<DeviceUse, number>;
}

export function summarise(nodes: Iterable<Node>, nowMs: number): ClusterSummary {
  const summary: ClusterSummary = {
    nodes: { up: 0, unknown: 0, lost: 0 },
    devices: { free: 0, busy: 0, unhealthy: 0, away: 0 },
  };
  for (const node of nodes) {
    summary.nodes[node.state] += 1;
    for (const device of node.devices) summary.devices[deviceUse(node, device, nowMs)] += 1;
  }
  return summary;
}

/** "8 × NVIDIA H200", or one entry for each kind if a node has several. */
export function describeDevices(node: Node): string {
  const counts = new Map<string, number>();
  for (const device of node.devices) {
    const name = `${device.model || device.kind.toUpperCase()}${device.artificial ? " (artificial)" : ""}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(", ") || "no devices";
}

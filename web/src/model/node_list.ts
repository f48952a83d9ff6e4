// Which nodes the page shows, and the cluster in a few numbers.
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

/** Trouble first, then by name with numbers in their natural order (node-2 before node-10). */
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

export function useOf(node: Node, device: Node["devices"][number]): DeviceUse {
  if (device.health !== "") return "unhealthy";
  if (device.job !== null) return "busy";
  return node.state === "up" && !isDrained(node) ? "free" : "away";
}

/** Whether nothing new starts there whatever its length: a window that is yet to begin keeps the node open. */
export function isDrained(node: Node): boolean {
  return node.drain !== null && node.drain.from_ms === null;
}

/** "its clock is 3600 s behind; set it right": times that its tasks tell are corrected by it. */
export function describeClock(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `its clock is ${seconds} s ${aheadMs < 0 ? "behind" : "ahead"}; set it right`;
}

/** "2 tasks that nobody here ordered: podium nodes adopt node-1", or what an operator has said of them. */
export function describeUnknown(node: string, unknown: NonNullable<Node["unknown"]>): string {
  const count = unknown.tasks.length;
  const tasks = `${count} ${count === 1 ? "task" : "tasks"}`;
  const whose = unknown.cluster === null ? "that nobody here ordered" : "of another cluster";
  const next = {
    ask: `: podium nodes adopt ${node}`,
    keep: count === 1 ? ", which runs to its end" : ", which run to their end",
    stop: count === 1 ? ", which is being stopped" : ", which are being stopped",
  };
  return `${tasks} ${whose}${next[unknown.adopted ?? "ask"]}`;
}

/** "drained until 20:00: new fans", with `time` to write times. */
export function describeDrain(drain: Drain, time: (ms: number) => string): string {
  return `drained${describeWindow(drain, time)}`;
}

/** "reserved for nlp from 20:00: deadline". */
export function describeReservation(reservation: Reservation, time: (ms: number) => string): string {
  return `reserved for ${reservation.account}${describeWindow(reservation, time)}`;
}

function describeWindow(window: Drain, time: (ms: number) => string): string {
  const from = window.from_ms === null ? "" : ` from ${time(window.from_ms)}`;
  const until = window.until_ms === null ? "" : ` until ${time(window.until_ms)}`;
  return `${from}${until}${window.reason === "" ? "" : `: ${window.reason}`}`;
}

export interface ClusterSummary {
  nodes: Record<NodeState, number>;
  devices: Record<DeviceUse, number>;
}

export function summarise(nodes: Iterable<Node>): ClusterSummary {
  const summary: ClusterSummary = {
    nodes: { up: 0, unknown: 0, lost: 0 },
    devices: { free: 0, busy: 0, unhealthy: 0, away: 0 },
  };
  for (const node of nodes) {
    summary.nodes[node.state] += 1;
    for (const device of node.devices) summary.devices[useOf(node, device)] += 1;
  }
  return summary;
}

/** "8 × NVIDIA H200", or one entry for each kind where a node mixes them. */
export function describeDevices(node: Node): string {
  const counts = new Map<string, number>();
  for (const device of node.devices) {
    const name = `${device.model || device.kind.toUpperCase()}${device.artificial ? " (artificial)" : ""}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(", ") || "no devices";
}

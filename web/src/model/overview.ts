// The cluster at a glance: what runs where, what needs attention, which jobs start next, and how much of the time was
// useful. Pure.
import type { Job, LedgerTable, Node, Queue, SpecRepository } from "../api/types";
import { dayMs } from "../format/times";
import { describeClock, describeUnknown, deviceUse, isDrained, type DeviceUse } from "./node_list";

/** Adjacent devices of a node that are alike. */
export interface Piece {
  node: string;
  use: DeviceUse;
  job: number | null;
  count: number;
  /** What is wrong with the devices. */
  health: string;
}

export interface NodeBlock {
  node: Node;
  pieces: Piece[];
}

export interface BlockGroup {
  /** "switch leaf-3", "rack r1"; "" if nodes have no such labels. */
  name: string;
  blocks: NodeBlock[];
}

const placeLabels = ["switch", "rack"] as const;

function placeOf({ labels }: Node): string {
  for (const label of placeLabels) {
    const value = labels[label];
    if (value !== undefined) return `${label} ${value}`;
  }
  return "";
}

export function piecesOf(node: Node, nowMs: number): Piece[] {
  const pieces: Piece[] = [];
  for (const device of node.devices) {
    const use = deviceUse(node, device, nowMs);
    const { job, health = "" } = device;
    const last = pieces.at(-1);
    if (last && last.use === use && last.job === job && last.health === health) last.count += 1;
    else pieces.push({ node: node.id, use, job, count: 1, health });
  }
  return pieces;
}

/** By the place of the nodes, then by name with numbers in their natural order. */
export function mapOf(nodes: Iterable<Node>, nowMs: number): BlockGroup[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const groups = new Map<string, NodeBlock[]>();
  for (const node of [...nodes].sort((a, b) => compare(a.id, b.id))) {
    const name = placeOf(node);
    const blocks = groups.get(name) ?? [];
    if (blocks.length === 0) groups.set(name, blocks);
    blocks.push({ node, pieces: piecesOf(node, nowMs) });
  }
  return [...groups].sort(([a], [b]) => compare(a, b)).map(([name, blocks]) => ({ name, blocks }));
}

const useWords: Record<DeviceUse, string> = {
  busy: "busy",
  free: "free",
  away: "not usable",
  unhealthy: "sick",
};

/** "job 12: 8 devices of node-3". */
export function pieceText({ node, use, job, count, health }: Piece): string {
  const devices = `${count} ${count === 1 ? "device" : "devices"} of ${node}`;
  const what = job === null ? useWords[use] : `job ${job}`;
  return health === "" ? `${what}: ${devices}` : `${what}: ${devices}, ${health}`;
}

export interface Attention {
  /** A smaller rank is more urgent. */
  rank: number;
  /** Names this occurrence: if it ends and happens again, it has another key. */
  key: string;
  text: string;
  href: string;
  /** Since when; null if that is not known. */
  sinceMs: number | null;
}

export interface AttentionSources {
  nodes: Iterable<Node>;
  /** The newest failed jobs. */
  failed: readonly Job[];
  queue: Queue | null;
  repositories: readonly SpecRepository[];
}

/** What needs attention as far as it is known: the most urgent first, then the newest. */
export function attentionOf(sources: AttentionSources, nowMs: number): Attention[] {
  return [
    ...[...sources.nodes].flatMap((node) => ofNode(node, nowMs)),
    ...sources.failed.flatMap((job) => ofFailed(job, nowMs)),
    ...ofSpecs(sources.repositories),
    ...ofHeld(sources.queue, nowMs),
  ].sort((a, b) => a.rank - b.rank || (b.sinceMs ?? 0) - (a.sinceMs ?? 0));
}

function ofNode(node: Node, nowMs: number): Attention[] {
  const href = `#/nodes?q=${encodeURIComponent(node.id)}`;
  const sick = node.devices.filter(({ health }) => health !== "");
  const found = (rank: number, what: string, text: string, sinceMs: number | null = null): Attention => ({
    ...{ rank, key: `${what} ${node.id} ${sinceMs ?? ""}`.trim(), text, href, sinceMs },
  });
  return [
    ...(node.state === "lost" ? [found(0, "lost", `${node.id} is lost`, node.last_seen_ms)] : []),
    ...(node.state === "unknown" ? [found(1, "silent", `${node.id} is silent`, node.last_seen_ms)] : []),
    ...sick.map(({ index, health }) =>
      found(2, `device ${index} ${health}`, `device ${index} of ${node.id}: ${health}`),
    ),
    ...(node.unknown?.adopted === null
      ? [found(2, "unknown", `${node.id}: ${describeUnknown(node.id, node.unknown)}`)]
      : []),
    ...(node.drain && node.drain.until_ms === null && isDrained(node, nowMs)
      ? [
          found(
            2,
            "drained",
            `${node.id} is drained${node.drain.reason && `: ${node.drain.reason}`}`,
            node.drain.from_ms,
          ),
        ]
      : []),
    ...(node.clock?.off ? [found(5, "clock", `${node.id}: ${describeClock(node.clock.ahead_ms)}`)] : []),
  ];
}

function ofFailed(job: Job, nowMs: number): Attention[] {
  if (job.ended_ms === null || nowMs - job.ended_ms > dayMs) return [];
  const text = `job ${job.id} ${job.name} failed${job.reason === "" ? "" : `: ${job.reason}`}`;
  return [
    { rank: 3, key: `job ${job.id} ${job.ended_ms}`, text, href: `#/jobs/${job.id}`, sinceMs: job.ended_ms },
  ];
}

function ofSpecs(repositories: readonly SpecRepository[]): Attention[] {
  const broken = repositories.filter(({ error }) => error !== "");
  const refused = repositories.flatMap(({ name, specs }) =>
    specs
      .filter(({ state }) => state === "refused")
      .map(({ path, problems }) => ({
        rank: 4,
        key: `spec ${name} ${path}`,
        text: `${path} of ${name} is refused: ${problems[0]?.message ?? "see why"}`,
        href: "#/specs?state=refused",
        sinceMs: null,
      })),
  );
  return [
    ...broken.map(({ name, error, checked_ms }) => ({
      rank: 4,
      key: `repository ${name}`,
      text: `specs of ${name} could not be read: ${error}`,
      href: "#/specs",
      sinceMs: checked_ms,
    })),
    ...refused,
  ];
}

function ofHeld(queue: Queue | null, nowMs: number): Attention[] {
  return (queue?.apart.jobs ?? [])
    .filter(({ blocker, submitted_ms }) => blocker === "held" && nowMs - submitted_ms > dayMs)
    .map(({ job, name, submitted_ms }) => ({
      rank: 6,
      key: `held ${job}`,
      text: `job ${job} ${name} is held, and was submitted over a day ago`,
      href: `#/jobs/${job}`,
      sinceMs: submitted_ms,
    }));
}

export interface Sorted {
  shown: Attention[];
  hidden: Attention[];
}

/** `hiddenUntil`: by key. */
export function apartHidden(
  all: readonly Attention[],
  hiddenUntil: ReadonlyMap<string, number>,
  nowMs: number,
): Sorted {
  const isHidden = ({ key }: Attention) => (hiddenUntil.get(key) ?? -Infinity) > nowMs;
  return { shown: all.filter((each) => !isHidden(each)), hidden: all.filter(isHidden) };
}

/** The keys with their times from storage. Entries that are over are left out; an unreadable text is an empty map. */
export function readHidden(text: string | null, nowMs: number): Map<string, number> {
  try {
    const kept = Object.entries(JSON.parse(text ?? "{}") as Record<string, unknown>);
    return new Map(
      kept.filter((entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > nowMs),
    );
  } catch {
    return new Map();
  }
}

export const writeHidden = (hiddenUntil: ReadonlyMap<string, number>) =>
  JSON.stringify(Object.fromEntries(hiddenUntil));

export interface NextStart {
  job: number;
  name: string;
  devices: number;
  kind: string;
  startMs: number;
}

/** The jobs with a reserved start, the first over all kinds first. */
export function nextStarts({ queues }: Queue, most: number): NextStart[] {
  return queues
    .flatMap(({ kind, jobs }) =>
      jobs.flatMap(({ job, name, devices, reserved_ms }) =>
        reserved_ms === null ? [] : [{ job, name, devices, kind, startMs: reserved_ms }],
      ),
    )
    .sort((a, b) => a.startMs - b.startMs)
    .slice(0, most);
}

/** How many jobs wait in line, and for how many devices, as far as the queue lists them. */
export function waitingOf({ queues, apart }: Queue): { inLine: number; apart: number } {
  return { inLine: queues.reduce((sum, { total }) => sum + total, 0), apart: apart.total };
}

/** The days for which goodput is known, at noon (UTC). */
export function goodputDays({ rows }: LedgerTable): { atMs: number; goodput: number }[] {
  return rows.flatMap(({ key, goodput }) =>
    goodput === null ? [] : [{ atMs: Date.parse(`${key}T12:00:00Z`), goodput }],
  );
}

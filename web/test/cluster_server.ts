// A coordinator with jobs in full, nodes and operations. A reading has the revision of the time before it was made; answers
// arrive in any order or are lost. The stream repeats messages, loses some, and begins anew with the process.
import type { Attempt, Job, JobDetail, JobEvent, LiveMessage, Node, SavedCheckpoint } from "../src/api/types";
import type { Cluster } from "../src/state/cluster";
import { ListServer, nextVersion } from "./list_server";
import { attempt, job } from "./samples";
import type { Request, Wire } from "./wire";

interface InFull {
  attempts: Attempt[];
  checkpoint: SavedCheckpoint | null;
  events: JobEvent[];
}

/** Answered at once or when the test says so. */
type Told = () => LiveMessage[];

const nodesAPage = 3;
const eventsAPage = 4;

export class ClusterServer extends ListServer {
  readonly nodes = new Map<string, Node>();
  private readonly inFull = new Map<number, InFull>();
  private readonly untoldNodes = new Set<string>();
  private telling: Told | null = null;
  private readonly readings: { request: Request; revision: number }[] = [];
  /** The outcomes of operations on several jobs. */
  private readonly done = new Map<Request, number[]>();
  private sent: LiveMessage[] = [];
  private events = 0;
  private joined = 0;

  constructor(wire: Wire, cluster: Cluster, count: number, random: (below: number) => number) {
    super(wire, cluster, count, random, true);
    for (let index = 0; index < 7; index += 1) this.join();
  }

  protected override made(id: number): Job {
    return job({ id, name: "version 0", state: "queued", priority: this.random(4), ...notStarted });
  }

  private fullOf(id: number): InFull {
    const known = this.inFull.get(id) ?? { attempts: [], checkpoint: null, events: [] };
    this.inFull.set(id, known);
    return known;
  }

  /** The answer to `GET /jobs/{id}`, without the revision. */
  detailOf(id: number): JobDetail {
    const { attempts, checkpoint } = this.fullOf(id);
    return {
      ...this.jobs.get(id)!,
      attempts,
      checkpoint,
      spec: { name: "spec" },
      source: null,
      text: null,
      origin: null,
      best_checkpoint: null,
    };
  }

  eventsOf = (id: number): readonly JobEvent[] => this.fullOf(id).events;

  // Things that happen.

  private happens(id: number, changes: Partial<Job>, text = ""): void {
    const before = this.jobs.get(id)!;
    if (text !== "") {
      const event: JobEvent = { id: ++this.events, time_ms: this.events, type: "job", text, level: "info" };
      this.fullOf(id).events = [...this.fullOf(id).events, event];
    }
    this.put({ ...before, ...changes, name: nextVersion(before) });
  }

  private setAttempt(id: number, changes: Partial<Attempt>): void {
    const full = this.fullOf(id);
    full.attempts = full.attempts.map((each, index) =>
      index === full.attempts.length - 1 ? { ...each, ...changes } : each,
    );
  }

  private start(id: number, step: number): void {
    const number = this.jobs.get(id)!.attempt + 1;
    const full = this.fullOf(id);
    full.attempts = [...full.attempts, attempt({ number, first_step: step, last_step: step })];
    const progress = { step, steps: 2000, updated_ms: number };
    this.happens(id, { state: "running", attempt: number, progress, ended_ms: null }, `attempt ${number}`);
  }

  private end(id: number, changes: Partial<Job>, text: string): void {
    this.setAttempt(id, { ended_ms: this.events, end: "succeeded" as Attempt["end"] });
    this.happens(id, changes, text);
  }

  private trains(id: number): void {
    const { progress, latest } = this.jobs.get(id)!;
    const step = Math.min(2000, progress!.step + 1 + this.random(20));
    const value = this.random(9);
    this.setAttempt(id, { last_step: step });
    this.happens(id, {
      progress: { ...progress!, step, updated_ms: step },
      latest: { ...latest, "train/loss": value },
    });
    const points = [{ key: "train/loss", step, time_ms: step, value }];
    this.unsent.push({ id: this.nextId++, event: "metrics", data: { job: id, points } });
  }

  /** A job moves on to its next state. */
  override change(): void {
    const id = this.someJob();
    const { state, held } = this.jobs.get(id)!;
    const full = this.fullOf(id);
    const saved = full.checkpoint?.step ?? 0;
    if (state === "queued") {
      if (!held) this.start(id, saved);
      return;
    }
    if (state !== "running") return;
    const what = this.random(8);
    if (what < 5) return this.trains(id);
    if (what < 6) {
      this.end(id, { restarts: this.jobs.get(id)!.restarts + 1 }, "attempt failed");
      this.start(id, saved);
    } else {
      const ended = what === 6 ? "succeeded" : "failed";
      this.end(id, { state: ended, ended_ms: ++this.events }, ended);
    }
  }

  /** A checkpoint is written, which no message reports. */
  save(id: number): void {
    const { state, progress } = this.jobs.get(id)!;
    if (state === "running") this.fullOf(id).checkpoint = { ...checkpoint, step: progress!.step };
  }

  private join(): void {
    const id = `node-${++this.joined}`;
    this.putNode({ ...emptyNode, id });
  }

  private putNode(node: Node): void {
    this.nodes.set(node.id, node);
    this.untoldNodes.add(node.id);
  }

  changeNode(): void {
    if (this.random(3) === 0) return this.join();
    const node = this.someNode();
    this.putNode({ ...node, state: node.state === "up" ? "lost" : "up", last_seen_ms: ++this.events });
  }

  /** In most cases one of the newest. */
  someJob = (): number => this.jobs.size - this.random(1 + this.random(this.jobs.size));

  someNode = (): Node => [...this.nodes.values()][this.random(this.nodes.size)]!;

  // Messages of the stream.

  override tell(): void {
    if (this.telling) {
      this.unsent.push(...this.telling().map((message) => ({ ...message, id: this.nextId++ })));
      this.telling = null;
      return;
    }
    if (this.untold.size + this.untoldNodes.size === 0) return;
    const revision = this.nextId++;
    const [jobs, nodes] = [[...this.untold], [...this.untoldNodes]];
    this.untold.clear();
    this.untoldNodes.clear();
    const read: Told = () => [
      ...jobs.map((id): LiveMessage => ({
        ...{ id: 0, event: "job", data: { ...this.jobs.get(id)!, revision } },
      })),
      ...nodes.flatMap((id): LiveMessage[] => {
        const node = this.nodes.get(id);
        return node ? [{ id: 0, event: "node", data: { ...node, revision } }] : [];
      }),
    ];
    const early = this.random(2) === 0 ? read() : null;
    this.telling = () => early ?? read();
  }

  override send(count: number): void {
    this.sent = [...this.sent, ...this.unsent.slice(0, count)].slice(-20);
    super.send(count);
  }

  /** A stream that continues from an earlier position. */
  repeat(): void {
    const some = this.sent.slice(-1 - this.random(10));
    if (some.length > 0) this.cluster.receive(some);
  }

  override lose(): void {
    this.sent = [];
    super.lose();
  }

  /**
   * Another process with an older copy of the nodes: requests under way are lost. Its clock may be behind the one
   * before.
   */
  async restart(): Promise<void> {
    const underWay = () => this.nextRequest() ?? this.readings.pop()?.request ?? this.nextReply()?.request;
    for (let request = underWay(); request; request = underWay()) await request.fail();
    this.telling = null;
    this.untold.clear();
    this.untoldNodes.clear();
    if (this.nodes.size > 1) this.nodes.delete(this.someNode().id);
    this.nextId = this.random(3) === 0 ? 100 : this.nextId + 1000;
    this.lose();
  }

  // Requests.

  protected override pick<T>(waiting: readonly T[]): T | undefined {
    return waiting[this.random(Math.max(1, waiting.length))];
  }

  /** An operation is done at once; a reading gets its revision now and is made later. */
  override takeRequest(): void {
    const request = this.nextRequest();
    if (!request) return;
    const status = request.method === "POST" ? this.operate(request) : 200;
    if (status !== 200) this.reply({ request, body: { title: "it cannot be done" }, status });
    else this.readings.push({ request, revision: this.nextId++ });
  }

  makeReading(): void {
    const next = this.pick(this.readings);
    if (!next) return;
    this.readings.splice(this.readings.indexOf(next), 1);
    this.reply({ request: next.request, body: this.bodyOf(next.request, next.revision) });
  }

  /** Loses the request or its answer. */
  async loseOne(): Promise<void> {
    if (this.random(2) === 0) await this.nextRequest()?.fail();
    else await this.nextReply()?.request.fail();
  }

  private operate(request: Request): number {
    const { path, body } = request;
    const [, what, id, operation] = path.split("/");
    if (what === "nodes") return this.operateNode(this.nodes.get(id!), operation!);
    if (id !== "operations") return this.operateJob(Number(id), operation!, body);
    const { jobs } = JSON.parse(body) as { jobs: number[] };
    this.done.set(
      request,
      jobs.filter((each) => this.operateJob(each, "hold", "") === 200),
    );
    return 200;
  }

  private operateNode(node: Node | undefined, operation: string): number {
    if (!node) return 404;
    const drain = operation === "drain" ? { reason: "", from_ms: null, until_ms: null } : null;
    this.putNode({ ...node, drain });
    return 200;
  }

  private operateJob(id: number, operation: string, body: string): number {
    const { state, ended_ms } = this.jobs.get(id)!;
    if ((operation === "requeue") === (ended_ms === null)) return 409;
    if (operation === "requeue") this.happens(id, { state: "queued", ended_ms: null }, "requeued");
    else if (operation === "priority")
      this.happens(id, { priority: (JSON.parse(body) as Pick<Job, "priority">).priority }, "priority");
    else if (operation === "cancel") {
      if (state === "running") this.setAttempt(id, { ended_ms: this.events });
      this.happens(id, { state: "cancelled", ended_ms: ++this.events }, "cancelled");
    } else this.happens(id, { held: operation === "hold" }, operation);
    return 200;
  }

  private bodyOf(request: Request, revision: number): unknown {
    const [route, query] = request.path.split("?");
    const [, what, id, part] = route!.split("/");
    const params = new URLSearchParams(query);
    if (what === "nodes")
      return id === undefined ? this.nodePage(params, revision) : { ...this.nodes.get(id), revision };
    if (id === undefined) return this.pageOf(request, revision);
    if (id === "operations") return { results: this.resultsOf(request, revision) };
    if (part === "events") return this.eventPage(Number(id), Number(params.get("page_token")));
    if (request.method === "POST") return { ...this.jobs.get(Number(id)), revision };
    return { ...this.detailOf(Number(id)), revision };
  }

  private resultsOf(request: Request, revision: number) {
    const { jobs } = JSON.parse(request.body) as { jobs: number[] };
    const done = this.done.get(request)!;
    return jobs.map((id) =>
      done.includes(id) ? { id, job: { ...this.jobs.get(id), revision } } : { id, refusal: "it has ended" },
    );
  }

  private nodePage(params: URLSearchParams, revision: number) {
    const after = params.get("page_token") ?? "";
    const rest = [...this.nodes.keys()].sort().filter((id) => id > after);
    const ids = rest.slice(0, nodesAPage);
    return {
      nodes: ids.map((id) => ({ ...this.nodes.get(id), revision })),
      total: this.nodes.size,
      ...(rest.length > ids.length ? { next_page_token: ids.at(-1) } : {}),
    };
  }

  private eventPage(id: number, after: number) {
    const rest = this.eventsOf(id).filter((event) => event.id > after);
    const events = rest.slice(0, eventsAPage);
    return {
      events,
      ...(rest.length > events.length ? { next_page_token: String(events.at(-1)!.id) } : {}),
    };
  }

  override get idle(): boolean {
    return super.idle && this.readings.length + this.untoldNodes.size === 0 && this.telling === null;
  }
}

const notStarted: Partial<Job> = {
  ...{ attempt: 0, started_ms: null, running_since_ms: null, progress: null, latest: {}, experiment: 3 },
};

const checkpoint: SavedCheckpoint = {
  ...{ attempt: 1, step: 0, time_ms: 1, path: "step", bytes: 1, seconds: 1, best: null, removed: false },
};

const emptyNode: Node = {
  ...{ id: "", revision: 0, address: "", state: "up", agent_version: "1", labels: {}, operator_labels: {} },
  ...{ drain: null, reservation: null, last_seen_ms: 0, clock: null, unknown: null, devices: [] },
};

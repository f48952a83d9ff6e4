// A coordinator with a list of jobs. Its readings take time, its events follow its changes with a delay, some events report
// several changes as one, and the stream loses some.
import type { Job, JobState, LiveMessage } from "../src/api/types";
import { viewFrom, type JobView } from "../src/model/job_list";
import type { Cluster } from "../src/state/cluster";
import { job } from "./samples";
import type { Request, Wire } from "./wire";

const states: JobState[] = ["queued", "running", "succeeded"];

export interface Reply {
  request: Request;
  body: unknown;
  status?: number;
}

export class ListServer {
  readonly answered = new Set<Request>();
  readonly jobs = new Map<number, Job>();
  protected nextId = 100;
  protected readonly untold = new Set<number>();
  protected unsent: LiveMessage[] = [];
  private readonly answers: Reply[] = [];
  private readonly taken = new Set<Request>();

  constructor(
    private readonly wire: Wire,
    protected readonly cluster: Cluster,
    count: number,
    protected readonly random: (below: number) => number,
    /** Fast changes of one job are reported together. */
    private readonly merges: boolean,
  ) {
    for (let id = 1; id <= count; id += 1) this.jobs.set(id, this.made(id));
  }

  protected made(id: number): Job {
    const [state, priority] = [states[this.random(3)]!, this.random(4)];
    return job({ id, name: "version 0", state, priority, latest: { "train/loss": this.random(9) } });
  }

  private read(id: number): Job {
    return { ...this.jobs.get(id)!, revision: this.nextId++ };
  }

  submit(): void {
    const id = this.jobs.size + 1;
    this.put(this.made(id));
  }

  protected put(changed: Job): void {
    this.jobs.set(changed.id, changed);
    this.untold.add(changed.id);
    if (!this.merges) this.tell();
  }

  /** A job changes its state, or only trains. */
  change(): void {
    const id = 1 + this.random(this.jobs.size);
    const before = this.jobs.get(id)!;
    const name = nextVersion(before);
    const value = this.random(9);
    const changes: Partial<Job>[] = [
      { state: states[this.random(3)]! },
      { priority: this.random(4) },
      { latest: { "train/loss": value } },
    ];
    this.put({ ...before, name, ...changes[this.random(3)] });
  }

  tell(): void {
    const [id] = this.untold;
    if (id === undefined) return;
    this.untold.delete(id);
    const data = this.read(id);
    this.unsent.push({ id: this.nextId++, event: "job", data });
  }

  /** What has not been sent is lost. */
  lose(): void {
    this.unsent = [{ id: this.nextId++, event: "reset" }];
  }

  send(count: number): void {
    const some = this.unsent.splice(0, count);
    if (some.length > 0) this.cluster.receive(some);
  }

  /** Picks the next of the waiting requests. */
  protected pick<T>(waiting: readonly T[]): T | undefined {
    return waiting[0];
  }

  /** A request that has arrived and will be read. */
  protected nextRequest(): Request | undefined {
    const request = this.pick(this.wire.requests.filter((each) => !this.taken.has(each)));
    if (request) this.taken.add(request);
    return request;
  }

  takeRequest(): void {
    const request = this.nextRequest();
    if (request) this.reply({ request, body: this.pageOf(request, this.nextId++) });
  }

  protected reply(reply: Reply): void {
    this.answers.push(reply);
  }

  protected pageOf({ path }: Request, revision: number): unknown {
    const params = new URLSearchParams(path.split("?")[1]);
    const [offset, limit] = [Number(params.get("offset")), Number(params.get("limit"))];
    const { jobs, states: counts } = this.listOf(viewFrom(params));
    const read = jobs.slice(offset, offset + limit).map((each) => ({ ...each, revision }));
    return { jobs: read, total: jobs.length, states: counts };
  }

  protected nextReply(): Reply | undefined {
    const next = this.pick(this.answers);
    if (!next) return undefined;
    this.answers.splice(this.answers.indexOf(next), 1);
    this.answered.add(next.request);
    return next;
  }

  async answer(): Promise<void> {
    const next = this.nextReply();
    await next?.request.answer(next.body, next.status);
  }

  async refuse(): Promise<void> {
    await this.nextReply()?.request.answer({ title: "busy" }, 503);
  }

  listOf(view: JobView): { jobs: Job[]; states: Partial<Record<JobState, number>> } {
    const all = [...this.jobs.values()];
    const counts: Partial<Record<JobState, number>> = {};
    for (const { state } of all) counts[state] = (counts[state] ?? 0) + 1;
    const jobs = all.filter(({ state }) => view.states.size === 0 || view.states.has(state));
    const valueOf = ({ id, priority, latest }: Job) =>
      ({ id, priority, loss: Number(latest["train/loss"]) })[view.order.key as "id" | "priority" | "loss"];
    const sign = view.order.descending ? -1 : 1;
    jobs.sort((a, b) => sign * (valueOf(a) - valueOf(b)) || b.id - a.id);
    return { jobs, states: counts };
  }

  get idle(): boolean {
    return (
      this.untold.size + this.unsent.length + this.answers.length === 0 &&
      this.wire.requests.every((request) => this.taken.has(request))
    );
  }
}

/** The name shows every change. */
export const nextVersion = ({ name }: Job) => `version ${Number(name.split(" ")[1]) + 1}`;

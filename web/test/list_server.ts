// A coordinator with a list of jobs: its readings take time, its events trail its changes, some tell several as one, and its
// stream loses some of them.
import type { Job, JobState, LiveMessage } from "../src/api/types";
import { viewFrom, type JobView } from "../src/model/job_list";
import type { Cluster } from "../src/state/cluster";
import { job } from "./samples";
import type { Request, Wire } from "./wire";

const states: JobState[] = ["queued", "running", "succeeded"];

export class ListServer {
  readonly answered = new Set<Request>();
  private readonly jobs = new Map<number, Job>();
  private nextId = 100;
  private readonly untold = new Set<number>();
  private unsent: LiveMessage[] = [];
  private readonly answers: { request: Request; body: unknown }[] = [];
  private taken = 0;

  constructor(
    private readonly wire: Wire,
    private readonly cluster: Cluster,
    count: number,
    private readonly random: (below: number) => number,
    /** Changes of one job that come fast are told together. */
    private readonly merges: boolean,
  ) {
    for (let id = 1; id <= count; id += 1) this.jobs.set(id, this.made(id));
  }

  private made(id: number): Job {
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

  private put(changed: Job): void {
    this.jobs.set(changed.id, changed);
    this.untold.add(changed.id);
    if (!this.merges) this.tell();
  }

  /** A job moves, or only trains. */
  change(): void {
    const id = 1 + this.random(this.jobs.size);
    const before = this.jobs.get(id)!;
    const name = `version ${Number(before.name.split(" ")[1]) + 1}`;
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

  /** Requests are read in their order. */
  takeRequest(): void {
    const request = this.wire.requests[this.taken];
    if (!request) return;
    this.taken += 1;
    const params = new URLSearchParams(request.path.split("?")[1]);
    const [offset, limit] = [Number(params.get("offset")), Number(params.get("limit"))];
    const { jobs, states: counts } = this.listOf(viewFrom(params));
    const read = jobs.slice(offset, offset + limit).map(({ id }) => this.read(id));
    this.answers.push({ request, body: { jobs: read, total: jobs.length, states: counts } });
  }

  async answer(): Promise<void> {
    const next = this.answers.shift();
    if (!next) return;
    this.answered.add(next.request);
    await next.request.answer(next.body);
  }

  async refuse(): Promise<void> {
    const next = this.answers.shift();
    if (!next) return;
    this.answered.add(next.request);
    await next.request.answer({ title: "busy" }, 503);
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
      this.taken === this.wire.requests.length
    );
  }
}

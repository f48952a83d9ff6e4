// What the coordinator told us of jobs and nodes. The live stream is applied here in batches, a few times a second, so that
// a burst of updates costs one rendering.
import { batch, signal } from "@preact/signals";
import { getNodePage } from "../api/client";
import type { Job, LiveMessage, LivePoint, Node } from "../api/types";
import { listStampOf, stampOf, withPoints } from "../model/job_update";
import { Entities, type Draft } from "./entities";
import type { Asking } from "./queries";
import { Stamps } from "./stamps";

const flushMs = 250;
/** Of those that nobody retains no more are kept. */
const mostJobs = 3000;

/** How far the list of nodes has come. */
export interface Loaded {
  have: number;
  /** Of the nodes the coordinator has, at the last page. */
  total: number;
  complete: boolean;
}

/** Of the list of nodes some pages have come. */
interface Load {
  since: number;
  listed: Set<string>;
  pageToken: string | undefined;
}

type PointListener = (points: LivePoint[]) => void;

/** What was told of one job. */
export interface JobNews {
  experiment: number;
  /** In what makes lists: their rows, the order of these and the counts. Points may still move it where they make the order. */
  moved: boolean;
}

export interface JobListener {
  hear(news: readonly JobNews[]): void;
  /** What was told before may be out of date, and some of it was not told. */
  reset(): void;
}

export class Cluster {
  readonly jobs = new Entities<number, Job>((job) => job.id);
  readonly nodes = new Entities<string, Node>((node) => node.id);
  /** Goes up when jobs, nodes or accounts changed in what the scheduler looks at: not with every step of training. */
  readonly scheduling = signal(0);
  /** The highest number of an experiment of which a job was told. */
  readonly newestExperiment = signal(0);
  /** Of the newest message of the live stream; whatever is asked for now is no older. */
  private newest = 0;
  private pending: Exclude<LiveMessage, { event: "reset" }>[] = [];
  private flushTimer: ReturnType<typeof setTimeout> | null = null;
  private unfinished: Load | null = null;
  private readonly schedulingStamps = new Stamps(stampOf);
  private readonly listStamps = new Stamps(listStampOf);
  private readonly retained = new Map<string, () => Iterable<number>>();
  private readonly pointListeners = new Map<number, Set<PointListener>>();
  private readonly jobListeners = new Set<JobListener>();

  /** `onReset`: something was missed, and everything has to be fetched again. */
  constructor(private readonly onReset: () => void) {}

  receive(messages: readonly LiveMessage[]): void {
    for (const message of messages) {
      this.newest = message.id;
      if (message.event === "reset") this.reset(message.id);
      else this.pending.push(message);
    }
    if (this.pending.length > 0) this.flushTimer ??= setTimeout(() => this.flush(), flushMs);
  }

  /** Of the newest message of the live stream. */
  get position(): number {
    return this.newest;
  }

  private reset(id: number): void {
    this.pending = [];
    this.unfinished = null;
    this.jobs.forgetRevisionsFrom(id);
    this.nodes.forgetRevisionsFrom(id);
    this.listStamps.forget();
    this.schedulingStamps.forget();
    for (const listener of this.jobListeners) listener.reset();
    this.onReset();
  }

  flush(): void {
    if (this.flushTimer !== null) clearTimeout(this.flushTimer);
    this.flushTimer = null;
    const messages = this.pending;
    this.pending = [];
    const points = new Map<number, LivePoint[]>();
    const news: JobNews[] = [];
    batch(() => {
      const moves = this.jobs.edit((jobs) =>
        this.nodes.edit((nodes) => this.apply(messages, jobs, nodes, points, news)),
      );
      if (moves) this.scheduling.value += 1;
      this.prune();
    });
    for (const [job, some] of points) this.pointListeners.get(job)?.forEach((listener) => listener(some));
    if (news.length > 0) for (const listener of this.jobListeners) listener.hear(news);
  }

  /** True when the scheduler may see things differently. */
  private apply(
    messages: Cluster["pending"],
    jobs: Draft<number, Job>,
    nodes: Draft<string, Node>,
    points: Map<number, LivePoint[]>,
    news: JobNews[],
  ): boolean {
    let moves = false;
    let retained: ReadonlySet<number> | undefined;
    const wanted = () => (retained ??= this.retainedIds());
    for (const { id, event, data } of messages) {
      if (event === "job") {
        const known = jobs.get(data.id);
        moves = this.schedulingStamps.moved(data, id, known) || moves;
        news.push({ experiment: data.experiment, moved: this.listStamps.moved(data, id) });
        this.noteExperiment(data);
        if (known || this.jobListeners.size > 0 || wanted().has(data.id)) jobs.put(data, id);
      } else if (event === "metrics") {
        const known = jobs.get(data.job);
        if (known) news.push({ experiment: known.experiment, moved: false });
        jobs.adjust(data.job, (job) => withPoints(job, data.points), id);
        points.set(data.job, (points.get(data.job) ?? []).concat(data.points));
      } else {
        if (event === "node") nodes.put(data, id);
        moves = true;
      }
    }
    return moves;
  }

  private noteExperiment({ experiment }: Job): void {
    if (experiment > this.newestExperiment.peek()) this.newestExperiment.value = experiment;
  }

  /** The coordinator's answer to a change, or its detail; the list's part of it. */
  putJobs(jobs: readonly Job[]): void {
    const known = this.jobs.all.peek();
    const moving = jobs.filter((job) => this.schedulingStamps.moved(job, this.newest, known.get(job.id)));
    this.jobs.put(jobs, this.newest);
    jobs.forEach((job) => this.noteExperiment(job));
    if (moving.length > 0) this.noteScheduling();
  }

  /** A part of a list, asked for when `asOf` was the newest message. */
  putListed(jobs: readonly Job[], asOf: number): void {
    this.jobs.put(jobs, asOf);
    this.prune();
  }

  /** Jobs that were listed or told of, and that nobody shows any longer, are forgotten once they are many. */
  private prune(): void {
    if (this.jobs.all.peek().size > mostJobs) this.jobs.forgetAllBut(this.retainedIds());
  }

  private retainedIds(): Set<number> {
    const kept = new Set<number>();
    for (const ids of this.retained.values()) for (const id of ids()) kept.add(id);
    return kept;
  }

  /** These jobs are kept up to date, also while a first reading of them is on its way; `name` takes the place of its ids of before. */
  retain(name: string, ids: () => Iterable<number>): void {
    this.retained.set(name, ids);
  }

  putNode(node: Node): void {
    this.nodes.put([node], this.newest);
  }

  /** An account's rules changed, or something else that no job or node tells. */
  noteScheduling(): void {
    this.scheduling.value += 1;
  }

  /** Calls back with one job's metric points as they arrive; returns the function that ends it. */
  listenToPoints(job: number, listener: PointListener): () => void {
    const listeners = this.pointListeners.get(job) ?? new Set();
    this.pointListeners.set(job, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.pointListeners.delete(job);
    };
  }

  /** Calls back when jobs were told of; returns the function that ends it. */
  listenToJobs(listener: JobListener): () => void {
    this.jobListeners.add(listener);
    return () => void this.jobListeners.delete(listener);
  }

  /** After a failure goes on at the page that failed. */
  async loadNodes({ signal, before, failures, show }: Asking<Loaded>): Promise<Loaded> {
    const begun = failures > 0 ? this.unfinished : null;
    const load = begun ?? { since: this.newest, listed: new Set<string>(), pageToken: undefined };
    this.unfinished = load;
    for (;;) {
      const asOf = this.newest;
      const { nodes, total, next_page_token: next } = await getNodePage(load.pageToken, signal);
      if (signal.aborted) throw signal.reason;
      for (const { id } of nodes) load.listed.add(id);
      load.pageToken = next;
      const complete = next === undefined;
      const loaded = { have: load.listed.size, total, complete };
      batch(() => {
        this.nodes.put(nodes, asOf);
        if (complete) this.nodes.keepOnly(load.listed, load.since);
        if (!before?.complete) show(loaded);
      });
      if (!complete) continue;
      this.unfinished = null;
      return loaded;
    }
  }
}

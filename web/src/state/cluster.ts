// The jobs and nodes that the coordinator has reported. Messages of the live stream are applied in batches, a few times a
// second, so that a burst of updates costs one rendering.
import { batch, signal } from "@preact/signals";
import { getNodePage } from "../api/client";
import type { Job, LiveMessage, LivePoint, Node } from "../api/types";
import { listStampOf, stampOf, withPoints } from "../model/job_update";
import { Entities, type Draft } from "./entities";
import type { Asking } from "./queries";
import { Stamps } from "./stamps";

const flushMs = 250;
/** At most this many jobs are kept that nobody retains. */
const mostJobs = 3000;

/** How much of the list of nodes has been read. */
export interface Loaded {
  have: number;
  /** The number of nodes that the coordinator had at the last page. */
  total: number;
  complete: boolean;
}

/** Some pages of the list of nodes have been read. */
interface Load {
  since: number;
  listed: Set<string>;
  pageToken: string | undefined;
}

type PointListener = (points: LivePoint[]) => void;

/** News about one job. */
export interface JobNews {
  experiment: number;
  /**
   * Something changed that lists depend on: rows, their order, or counts. Points may still change the order where
   * metrics determine it.
   */
  moved: boolean;
}

export interface JobListener {
  hear(news: readonly JobNews[]): void;
  /** Everything reported before may be out of date, and some changes were missed. */
  reset(): void;
}

export class Cluster {
  readonly jobs = new Entities<number, Job>((job) => job.id);
  readonly nodes = new Entities<string, Node>((node) => node.id);
  /**
   * Increases when jobs, nodes or accounts change in what the scheduler looks at, but not with every step of
   * training.
   */
  readonly scheduling = signal(0);
  /** The highest number of an experiment whose job was reported. */
  readonly newestExperiment = signal(0);
  /** The id of the newest message of the live stream. What is requested from now on is no older. */
  private newest = 0;
  private pending: Exclude<LiveMessage, { event: "reset" }>[] = [];
  private flushTimer: ReturnType<typeof setTimeout> | null = null;
  private unfinished: Load | null = null;
  private readonly schedulingStamps = new Stamps(stampOf);
  private readonly listStamps = new Stamps(listStampOf);
  private readonly retained = new Map<string, () => Iterable<number>>();
  private readonly pointListeners = new Map<number, Set<PointListener>>();
  private readonly jobListeners = new Set<JobListener>();

  /** `onReset`: messages were missed, and everything has to be fetched again. */
  constructor(private readonly onReset: () => void) {}

  receive(messages: readonly LiveMessage[]): void {
    for (const message of messages) {
      this.newest = message.id;
      if (message.event === "reset") this.reset(message.id);
      else this.pending.push(message);
    }
    if (this.pending.length > 0) this.flushTimer ??= setTimeout(() => this.flush(), flushMs);
  }

  /** The id of the newest message of the live stream. */
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

  /** True if the change concerns the scheduler. */
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

  /** A job from the coordinator's answer to a change, or from its detail: the part that lists have. */
  putJobs(jobs: readonly Job[]): void {
    const known = this.jobs.all.peek();
    const moving = jobs.filter((job) => this.schedulingStamps.moved(job, this.newest, known.get(job.id)));
    this.jobs.put(jobs, this.newest);
    jobs.forEach((job) => this.noteExperiment(job));
    if (moving.length > 0) this.noteScheduling();
  }

  /** A part of a list, requested when `asOf` was the newest message. */
  putListed(jobs: readonly Job[], asOf: number): void {
    this.jobs.put(jobs, asOf);
    this.prune();
  }

  /** Jobs that nobody shows any longer are forgotten once there are many of them. */
  private prune(): void {
    if (this.jobs.all.peek().size > mostJobs) this.jobs.forgetAllBut(this.retainedIds());
  }

  private retainedIds(): Set<number> {
    const kept = new Set<number>();
    for (const ids of this.retained.values()) for (const id of ids()) kept.add(id);
    return kept;
  }

  /**
   * Keeps these jobs up to date, also while their first reading is under way. A second call with the same `name`
   * replaces the ids.
   */
  retain(name: string, ids: () => Iterable<number>): void {
    this.retained.set(name, ids);
  }

  putNode(node: Node): void {
    this.nodes.put([node], this.newest);
  }

  /** An account's rules changed, or something else that no message about a job or a node reports. */
  noteScheduling(): void {
    this.scheduling.value += 1;
  }

  /** Calls back with the metric points of one job as they arrive. Returns the function that unsubscribes. */
  listenToPoints(job: number, listener: PointListener): () => void {
    const listeners = this.pointListeners.get(job) ?? new Set();
    this.pointListeners.set(job, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.pointListeners.delete(job);
    };
  }

  /** Calls back when jobs were reported. Returns the function that unsubscribes. */
  listenToJobs(listener: JobListener): () => void {
    this.jobListeners.add(listener);
    return () => void this.jobListeners.delete(listener);
  }

  /** After a failure it continues with the page that failed. */
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

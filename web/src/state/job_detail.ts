// One job for its page: its detail and its history. Each is fetched again after news of the job that it may lack.
import { computed, effect, signal, untracked, type ReadonlySignal } from "@preact/signals";
import { getJob, getJobEvents } from "../api/client";
import type { Job, JobDetail, JobEvent } from "../api/types";
import { stampOf } from "../model/job_update";
import type { Cluster } from "./cluster";
import type { Ask, Queries, Reading } from "./queries";

export const historyMs = 10_000;
/** Tasks may change without an event; the detail of a job with many tasks is large. */
export const detailMs = 30_000;

const revisionOf = ({ revision }: Partial<Job>) => revision ?? 0;

/** A reading, and what was known of the job when it was requested: the reading has no less. */
class Copy<T> {
  readonly reading: Reading<T>;
  private askedAt = -Infinity;
  private revision = -Infinity;
  private stamp = "";
  /** It is requested and not answered, or about to be requested. */
  private under = false;

  constructor(
    queries: Queries,
    key: string,
    ask: Ask<T>,
    /** The interval while the job has not ended, and the delay after news that seem to change nothing. */
    private readonly everyMs: number,
    private readonly live: () => Job | undefined,
  ) {
    this.reading = queries.read<T>(key, async (asking) => {
      this.under = true;
      this.askedAt = performance.now();
      this.revision = -Infinity;
      const live = this.live();
      if (live) this.note(live);
      try {
        return await ask(asking);
      } finally {
        this.under = false;
      }
    });
  }

  /** The reading includes this reading of the job. */
  note(job: Job): void {
    if (revisionOf(job) < this.revision) return;
    this.revision = revisionOf(job);
    this.stamp = stampOf(job);
  }

  dueAt(live: Job): number {
    if (this.under) return Infinity;
    const isNews = revisionOf(live) > this.revision;
    if (isNews && stampOf(live) !== this.stamp) return -Infinity;
    return isNews || live.ended_ms === null ? this.askedAt + this.everyMs : Infinity;
  }

  refresh(): void {
    this.under = true;
    this.reading.refresh();
  }
}

interface Copies {
  detail: Copy<JobDetail>;
  /** It is begun once there is a detail, so that later reports are known to be news. */
  history: Copy<JobEvent[]> | null;
}

export interface JobReadings {
  detail: Reading<JobDetail>;
  history: Reading<JobEvent[]> | null;
}

export class JobInDetail {
  private readonly copies = signal<Copies | null>(null);
  private readonly changed = signal(0);
  private stamp: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The newest reading of the job. */
  readonly live: ReadonlySignal<Job | undefined>;

  constructor(
    readonly id: number,
    private readonly queries: Queries,
    private readonly cluster: Cluster,
  ) {
    this.live = computed(() => cluster.jobs.all.value.get(id));
  }

  /** Null while no page shows the job. */
  get readings(): JobReadings | null {
    const copies = this.copies.value;
    return copies && { detail: copies.detail.reading, history: copies.history?.reading ?? null };
  }

  /** Increases with everything that a forecast depends on. */
  get changes(): ReadonlySignal<number> {
    return this.changed;
  }

  /** Fetches the job and keeps it up to date until the returned function is called. */
  open(): () => void {
    this.cluster.retain("page", () => [this.id]);
    this.copies.value = { detail: this.copyOfDetail(), history: null };
    const stop = effect(() => {
      const live = this.live.value;
      const copies = this.copies.value;
      const data = copies?.detail.reading.answer.value.data;
      void copies?.history?.reading.answer.value;
      untracked(() => this.follow(live, data !== null));
    });
    return () => {
      stop();
      clearTimeout(this.timer);
      const copies = this.copies.peek();
      this.copies.value = null;
      copies?.detail.reading.release();
      copies?.history?.reading.release();
    };
  }

  private copyOfDetail(): Copy<JobDetail> {
    const ask: Ask<JobDetail> = async ({ signal }) => {
      const detail = await getJob(this.id, signal);
      const { attempts: _a, checkpoint: _c, best_checkpoint: _b, ...rest } = detail;
      const { spec: _s, source: _o, text: _t, origin: _g, ...job } = rest;
      this.copies.peek()?.detail.note(job);
      this.cluster.putJobs([job]);
      return detail;
    };
    return new Copy(this.queries, `job ${this.id}`, ask, detailMs, () => this.live.peek());
  }

  private copyOfHistory(): Copy<JobEvent[]> {
    const ask: Ask<JobEvent[]> = async ({ before, signal }) => {
      const known = before ?? [];
      const newest = known.reduce((id, event) => Math.max(id, event.id), 0);
      const news = await getJobEvents(this.id, newest, signal);
      // The coordinator learns of a checkpoint from the worker's files, perhaps after what came later.
      return before && news.length === 0 ? before : [...known, ...news].sort((a, b) => a.time_ms - b.time_ms);
    };
    return new Copy(this.queries, `events of ${this.id}`, ask, historyMs, () => this.live.peek());
  }

  private follow(live: Job | undefined, isKnown: boolean): void {
    const copies = this.copies.peek();
    if (!copies || !live) return;
    const stamp = stampOf(live);
    if (this.stamp !== null && this.stamp !== stamp) this.changed.value += 1;
    this.stamp = stamp;
    if (isKnown && !copies.history) this.copies.value = { ...copies, history: this.copyOfHistory() };
    this.plan(live);
  }

  private plan(live: Job): void {
    clearTimeout(this.timer);
    const { detail, history } = this.copies.peek()!;
    let next = Infinity;
    for (const copy of history ? [detail, history] : [detail]) {
      const due = copy.dueAt(live);
      if (due <= performance.now()) copy.refresh();
      else next = Math.min(next, due);
    }
    if (next < Infinity)
      this.timer = setTimeout(() => this.plan(this.live.peek() ?? live), next - performance.now());
  }
}

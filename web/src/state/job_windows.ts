// A list of jobs that is loaded by windows: those in sight, then one on either side. The live stream keeps the loaded jobs
// up to date. News that may change rows or counts cause one request for the windows in sight.
import { batch, signal, type ReadonlySignal } from "@preact/signals";
import { getJobPage } from "../api/client";
import type { JobPage } from "../api/types";
import { followsTraining, isStable, queryOf, type JobView } from "../model/job_list";
import {
  idAt,
  isWithin,
  lastWindow,
  nothingListed,
  numbersOf,
  windowOf,
  windowSize,
  type JobWindow,
  type Listed,
  type Span,
} from "../model/job_rows";
import type { Cluster, JobNews } from "./cluster";
import type { Asking, Queries, Reading } from "./queries";

/** While the reader scrolls. */
export const paceMs = 100;
/** No window is requested again sooner. */
export const refreshMs = 1_000;
/** The delay after news that seem to change nothing: two changes reported as one look like none. */
export const doubtMs = 30_000;
const mostWindows = 12;

/** The rows that the reader sees. */
export interface Sight {
  top: number;
  bottom: number;
}

/** The time of the last request by any list: typing causes no more requests than scrolling. */
export interface Pace {
  startedAt: number;
}

interface Part {
  span: Span;
  page: JobPage;
}

export class JobWindows {
  private readonly state = signal<Listed>(nothingListed);
  private readonly opened = signal<Reading<Listed> | null>(null);
  private readonly query: Record<string, string>;
  private seen: Sight = { top: 0, bottom: 0 };
  /** Increases with news that may make loaded windows out of date. */
  private turn = 0;
  /** Windows loaded before this turn are requested at once, because the changes since were missed. */
  private lostTurn = 0;
  /** Increases with all news. */
  private heard = 0;
  private under: { span: Span; abort: AbortController } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly view: JobView,
    private readonly queries: Queries,
    private readonly cluster: Cluster,
    private readonly pace: Pace,
  ) {
    this.query = queryOf(view);
  }

  get listed(): ReadonlySignal<Listed> {
    return this.state;
  }

  /** Null while no page shows the list. */
  get reading(): ReadonlySignal<Reading<Listed> | null> {
    return this.opened;
  }

  get sight(): Sight {
    return this.seen;
  }

  /** Fetches the list and keeps it up to date until the returned function is called. */
  open(): () => void {
    this.lose();
    const stopListening = this.cluster.listenToJobs({
      hear: (news) => this.hear(news),
      reset: () => this.lose(),
    });
    const key = `jobs ${new URLSearchParams(this.query).toString()}`;
    const reading = this.queries.read<Listed>(key, (asking) => this.ask(asking));
    this.opened.value = reading;
    return () => {
      clearTimeout(this.timer);
      stopListening();
      reading.release();
      this.opened.value = null;
    };
  }

  look(sight: Sight): void {
    if (sight.top === this.seen.top && sight.bottom === this.seen.bottom) return;
    this.seen = sight;
    this.goOn();
  }

  private lose(): void {
    this.turn += 1;
    this.lostTurn = this.turn;
  }

  private hear(news: readonly JobNews[]): void {
    const { experiment, order } = this.view;
    const ours = news.filter((one) => experiment === null || one.experiment === experiment);
    if (ours.length === 0) return;
    this.heard += 1;
    if (followsTraining(order) || ours.some(({ moved }) => moved)) this.turn += 1;
    this.plan();
  }

  /** Sets the time of the next request for the windows in sight. */
  private plan(): void {
    const { windows } = this.state.peek();
    const shown = numbersOf(this.inSight()).flatMap((number) => windows.get(number) ?? []);
    const stale = shown.filter((window) => this.isStale(window));
    const doubted = shown.filter(({ heard }) => heard < this.heard);
    const [some, wait] = stale.length > 0 ? [stale, refreshMs] : [doubted, doubtMs];
    clearTimeout(this.timer);
    if (some.length === 0) return;
    const due = Math.min(...some.map(({ askedAt }) => askedAt)) + wait;
    this.timer = setTimeout(() => this.askAgain(stale.length === 0), Math.max(0, due - performance.now()));
  }

  private askAgain(inDoubt: boolean): void {
    if (inDoubt) this.turn += 1;
    this.goOn();
  }

  private goOn(): void {
    if (!this.wanted()) return this.plan();
    this.giveWay();
    this.opened.peek()?.refresh();
  }

  /** Aborts a request for windows that are out of sight. */
  private giveWay(): void {
    if (!this.under) return;
    const { span, abort } = this.under;
    const { from, to } = this.inSight();
    if (span.to < from || span.from > to) abort.abort();
  }

  private inSight(total = this.state.peek().total): Span {
    const last = lastWindow(total);
    const to = Math.min(last, windowOf(this.seen.bottom));
    return { from: Math.min(to, windowOf(this.seen.top)), to };
  }

  private isStale({ turn }: JobWindow): boolean {
    return turn < this.turn;
  }

  private isDue(window: JobWindow): boolean {
    return (
      window.turn < this.lostTurn || (this.isStale(window) && performance.now() >= window.askedAt + refreshMs)
    );
  }

  /**
   * The windows to request next, in one reading: first those in sight that are missing or due, then those beside
   * them.
   */
  private wanted(): Span | null {
    const { windows, total } = this.state.peek();
    const { from, to } = this.inSight();
    const untrue = numbersOf({ from, to }).filter((number) => {
      const window = windows.get(number);
      return !window || this.isStale(window);
    });
    const isPressing = (number: number) => {
      const window = windows.get(number);
      return !window || this.isDue(window);
    };
    if (untrue.some(isPressing)) return { from: untrue[0]!, to: untrue.at(-1)! };
    const isMissing = (number: number) => number >= 0 && number <= lastWindow(total) && !windows.has(number);
    const beside = [to + 1, from - 1].find(isMissing);
    return beside === undefined ? null : { from: beside, to: beside };
  }

  private async ask({ signal, show }: Asking<Listed>): Promise<Listed> {
    for (let span = this.wanted(); span !== null; span = this.wanted()) {
      const pause = this.pace.startedAt + paceMs - performance.now();
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      else await this.load(span, signal);
      signal.throwIfAborted();
      if (this.state.peek().total !== null) show(this.state.peek());
    }
    this.plan();
    return this.state.peek();
  }

  private async load(span: Span, outer: AbortSignal): Promise<void> {
    const abort = new AbortController();
    const signal = AbortSignal.any([outer, abort.signal]);
    this.under = { span, abort };
    const askedAt = (this.pace.startedAt = performance.now());
    const mark = { askedAt, turn: this.turn, heard: this.heard };
    const asOf = this.cluster.position;
    try {
      const part = { span, page: await this.getPage(span, signal) };
      const parts = [part, ...(await this.follow(part, signal))];
      signal.throwIfAborted();
      batch(() => {
        this.keep(parts, mark);
        for (const { page } of parts) this.cluster.putListed(page.jobs, asOf);
      });
    } catch (error) {
      if (!abort.signal.aborted || outer.aborted) throw error;
    } finally {
      this.under = null;
    }
  }

  private getPage({ from, to }: Span, signal: AbortSignal): Promise<JobPage> {
    const limit = String((to - from + 1) * windowSize);
    return getJobPage({ ...this.query, offset: String(from * windowSize), limit }, signal);
  }

  /** The row at the top of the sight if the reader's place is kept; at the very top new rows appear. */
  private anchor(): number | undefined {
    const { top } = this.seen;
    return top > 0 && isStable(this.view.order) ? idAt(this.state.peek(), top) : undefined;
  }

  /** Where the anchor has left the requested windows: the windows that would have it after the growth of the list. */
  private async follow({ span, page }: Part, signal: AbortSignal): Promise<Part[]> {
    const { top, bottom } = this.seen;
    const before = this.state.peek().windows.get(windowOf(top));
    const anchor = this.anchor();
    if (anchor === undefined || !before || !isWithin(span, windowOf(top))) return [];
    if (page.jobs.some(({ id }) => id === anchor)) return [];
    const moved = page.total - before.total;
    const to = Math.min(lastWindow(page.total), windowOf(Math.max(0, bottom + moved)));
    const there = { from: Math.min(to, windowOf(Math.max(0, top + moved))), to };
    if (isWithin(span, there.from) && isWithin(span, there.to)) return [];
    const answer = await this.getPage(there, signal);
    return answer.jobs.some(({ id }) => id === anchor) ? [{ span: there, page: answer }] : [];
  }

  private keep(parts: readonly Part[], mark: Pick<JobWindow, "askedAt" | "turn" | "heard">): void {
    const anchor = this.anchor();
    const { total, states } = parts.at(-1)!.page;
    const windows = new Map(this.state.peek().windows);
    for (const { span, page } of parts) {
      for (const number of numbersOf(span)) {
        const from = (number - span.from) * windowSize;
        const ids = page.jobs.slice(from, from + windowSize).map(({ id }) => id);
        windows.set(number, { ids, total: page.total, ...mark });
        const at = anchor === undefined ? -1 : ids.indexOf(anchor);
        if (at >= 0) this.moveSight(number * windowSize + at);
      }
    }
    this.state.value = { total, states, windows: this.kept(windows, total) };
  }

  /** As the table will compute it, before it is drawn. */
  private moveSight(top: number): void {
    this.seen = { top, bottom: this.seen.bottom + top - this.seen.top };
  }

  private kept(windows: ReadonlyMap<number, JobWindow>, total: number): Map<number, JobWindow> {
    const { from, to } = this.inSight(total);
    const distance = (number: number) => Math.max(from - number, number - to);
    const nearest = [...windows].filter(([number]) => number <= lastWindow(total));
    nearest.sort(([a], [b]) => distance(a) - distance(b));
    return new Map(nearest.slice(0, mostWindows));
  }
}

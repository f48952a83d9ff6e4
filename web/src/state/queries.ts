// What pages fetch, by key. For each key, one request is under way and at most one more is planned. The old answer stays
// meanwhile, and requests repeat until the coordinator answers. A key is dropped when its last reader leaves.
import { signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { backoffMs } from "../api/backoff";
import { Problem, Unreachable } from "../api/problem";
import { serverNow } from "../api/server_clock";

export interface Answer<T> {
  data: T | null;
  /** Why the last request failed; null if nothing is wrong. */
  error: unknown;
  /** `data` is known to be out of date. */
  stale: boolean;
  /** When `data` was requested, by the coordinator's clock; 0 before there is any. */
  at: number;
}

export interface Asking<T> {
  signal: AbortSignal;
  before: T | null;
  /** The number of failures since the last success: a long load may continue where it stopped. */
  failures: number;
  /** Shows the parts that have arrived. */
  show(part: T): void;
}

export type Ask<T> = (asking: Asking<T>) => Promise<T>;

export interface Reading<T> {
  readonly answer: ReadonlySignal<Answer<T>>;
  /** The answer may have changed: asks now, or once more after the request under way. */
  refresh(): void;
  /** The reader wants it: asks at once, however long the wait would have been. */
  retry(): void;
  /** Changes the answer by news from elsewhere; does nothing while there is no answer. */
  update(change: (data: T) => T): void;
  release(): void;
}

/** How long to wait before asking again; null if the coordinator would refuse again. */
export function retryAfterMs(error: unknown, failures: number): number | null {
  const wait = backoffMs(failures, Math.random());
  if (error instanceof Unreachable) return wait;
  if (!(error instanceof Problem) || (error.status < 500 && error.status !== 429)) return null;
  return Math.max(wait, error.retryAfterMs);
}

const isRefusal = (error: unknown) =>
  error instanceof Problem && (error.status === 401 || error.status === 403);

class Entry<T> {
  readonly answer: Signal<Answer<T>> = signal({ data: null, error: null, stale: false, at: 0 });
  readers = 0;
  /** A new request is needed. */
  wanted = true;
  /** Something has happened that the request under way may have missed. */
  outdated = false;
  running: AbortController | null = null;
  failures = 0;
  /** Nothing is requested until the timer fires: the coordinator would not answer. */
  timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    readonly key: string,
    readonly ask: Ask<T>,
    /** The answer stays without readers. If it is stale, the next reader causes a new request. */
    readonly kept: boolean,
  ) {}

  set(change: Partial<Answer<T>>): void {
    this.answer.value = { ...this.answer.peek(), ...change };
  }

  stopWaiting(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}

export interface QueryHandlers {
  /** The coordinator refused to let us read, with or without a token. `askedAt`: by performance.now(). */
  onRefused(askedAt: number): void;
}

export class Queries {
  private readonly entries = new Map<string, Entry<unknown>>();
  private held = true;

  constructor(private readonly handlers: QueryHandlers) {}

  /** The first reader of a key decides the `ask`. */
  read<T>(key: string, ask: Ask<T>, { kept = false } = {}): Reading<T> {
    const known = this.entries.get(key) as unknown as Entry<T> | undefined;
    const entry = known ?? new Entry<T>(key, ask, kept);
    this.entries.set(key, entry as unknown as Entry<unknown>);
    entry.readers += 1;
    this.start(entry);
    let released = false;
    return {
      answer: entry.answer,
      refresh: () => this.want(entry),
      retry: () => {
        entry.stopWaiting();
        this.want(entry);
      },
      update: (change) => {
        const { data } = entry.answer.peek();
        if (data !== null) entry.set({ data: change(data) });
      },
      release: () => {
        if (!released) this.leave(entry);
        released = true;
      },
    };
  }

  /** Starts no more requests for now: nobody would answer, or nobody looks. */
  hold(): void {
    this.held = true;
    for (const entry of this.entries.values()) entry.stopWaiting();
  }

  /** Requests whatever is missing, out of date or failed. */
  go(): void {
    this.held = false;
    for (const entry of this.entries.values()) this.start(entry);
  }

  /** Everything fetched before may be out of date. */
  invalidate(): void {
    for (const entry of this.entries.values()) {
      entry.outdated = true;
      if (entry.answer.peek().data !== null) entry.set({ stale: true });
      this.want(entry);
    }
  }

  private want<T>(entry: Entry<T>): void {
    entry.wanted = true;
    this.start(entry);
  }

  private start<T>(entry: Entry<T>): void {
    if (!entry.wanted || this.held || entry.readers === 0) return;
    if (entry.running !== null || entry.timer !== null) return;
    entry.wanted = entry.outdated = false;
    void this.run(entry, (entry.running = new AbortController()).signal);
  }

  private async run<T>(entry: Entry<T>, signal: AbortSignal): Promise<void> {
    const at = serverNow();
    const askedAt = performance.now();
    const { data: before } = entry.answer.peek();
    const show = (data: T) => {
      if (!signal.aborted) entry.set({ data, at });
    };
    try {
      const data = await entry.ask({ signal, before, failures: entry.failures, show });
      if (signal.aborted) return;
      entry.failures = 0;
      entry.set({ data, error: null, stale: entry.outdated, at });
    } catch (error) {
      if (signal.aborted) return;
      this.fail(entry, error, askedAt);
    }
    entry.running = null;
    this.start(entry);
  }

  private fail<T>(entry: Entry<T>, error: unknown, askedAt: number): void {
    entry.failures += 1;
    entry.set({ error, stale: entry.answer.peek().data !== null });
    const wait = retryAfterMs(error, entry.failures);
    if (wait !== null) {
      entry.wanted = true;
      if (!this.held) entry.timer = setTimeout(() => this.retry(entry), wait);
    }
    if (isRefusal(error)) this.handlers.onRefused(askedAt);
  }

  private retry<T>(entry: Entry<T>): void {
    entry.timer = null;
    this.start(entry);
  }

  private leave<T>(entry: Entry<T>): void {
    entry.readers -= 1;
    if (entry.readers > 0) return;
    entry.stopWaiting();
    if (entry.running !== null) entry.wanted = true;
    entry.running?.abort();
    entry.running = null;
    if (!entry.kept || entry.answer.peek().data === null) this.entries.delete(entry.key);
  }
}

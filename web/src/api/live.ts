// The live stream and the dashboard's only notion of "connected". One stream is open at a time; it resumes by
// Last-Event-ID, and whoever listens to `onReset` fetches everything again.
//
//   connecting → live ⇄ offline (retrying, with back-off)
//        ↓         ↑
//      polling ----+     (the coordinator answers, but something between it and here swallows the stream)
//        ↓
//      locked            (reading needs a token; on when somebody gives one)
//
import { authorization, getHealth, prefix } from "./client";
import { backoffMs } from "./backoff";
import { EventParser, type ServerEvent } from "./sse";
import type { LiveMessage, TokenOwner } from "./types";

export type Connection =
  | { state: "connecting" }
  | { state: "live" }
  | { state: "polling" }
  | { state: "locked" }
  | { state: "offline"; sinceMs: number; retryAtMs: number };

export interface LiveHandlers {
  onConnection(connection: Connection): void;
  onMessages(messages: LiveMessage[]): void;
  /** Whose token the coordinator takes ours for. */
  onToken(owner: TokenOwner): void;
  /** Something was missed (a gap in the stream, a restarted coordinator, the first connection): fetch again. */
  onReset(): void;
  /** Reading was refused. True: there is a token to try now. */
  onLocked(): Promise<boolean>;
}

class Refused extends Error {}

const messageEvents = new Set(["job", "node", "account", "metrics"]);

/** The coordinator sends at least a comment every 15 s; this long without a byte means the line is dead. */
const silenceMs = 40_000;
const pollMs = 5_000;
const reconnectMs = 500;
/** A start time computed from an uptime in whole seconds moves by that much. */
const clockSlackMs = 3_000;
const streamFailuresBeforePolling = 3;

export class LiveStream {
  private lastId = "0";
  private coordinatorStartedMs = -Infinity;
  private failures = 0;
  private streamFailures = 0;
  private offlineSince = 0;
  private abort = new AbortController();
  private wake: () => void = () => undefined;
  private stopped = false;

  constructor(private readonly handlers: LiveHandlers) {}

  start(): void {
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    this.abort.abort();
    this.wake();
  }

  /** Ends the current wait, if there is one. */
  retryNow(): void {
    this.wake();
  }

  private async run(): Promise<void> {
    this.handlers.onConnection({ state: "connecting" });
    while (!this.stopped) {
      if (!(await this.establish())) {
        await this.waitOffline();
        continue;
      }
      try {
        await this.stream();
      } catch (error) {
        if (error instanceof Refused) {
          await this.unlock();
          continue;
        }
        // Every other way a stream can end is the same to us: ask the coordinator how it is, then connect again.
      }
      this.streamFailures += 1;
      if (this.streamFailures >= streamFailuresBeforePolling) await this.poll();
      else await this.wait(reconnectMs);
    }
  }

  /** True when the coordinator answers. Takes the stream's position first, so that what is fetched next is no older. */
  private async establish(): Promise<boolean> {
    try {
      const health = await getHealth(AbortSignal.timeout(10_000));
      this.handlers.onToken(health.token);
      const startedMs = Date.now() - health.uptime_seconds * 1000;
      const anotherProcess = startedMs > this.coordinatorStartedMs + clockSlackMs;
      this.coordinatorStartedMs = startedMs;
      if (anotherProcess) this.lastId = String(health.live_id);
      // After an outage the stream resumes, but whatever a page could not fetch meanwhile must be asked for again.
      if (anotherProcess || this.failures > 0) this.handlers.onReset();
      this.failures = 0;
      return true;
    } catch {
      return false;
    }
  }

  private async stream(): Promise<void> {
    this.abort = new AbortController();
    let watchdog = setTimeout(() => this.abort.abort(), silenceMs);
    try {
      const response = await fetch(`${prefix}/live`, {
        headers: { ...authorization(), Accept: "text/event-stream", "Last-Event-ID": this.lastId },
        cache: "no-store",
        signal: this.abort.signal,
      });
      if (response.status === 401 || response.status === 403) throw new Refused();
      if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
      this.handlers.onConnection({ state: "live" });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => this.abort.abort(), silenceMs);
        this.streamFailures = 0;
        this.deliver(parser.push(value));
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  private deliver(events: ServerEvent[]): void {
    const messages: LiveMessage[] = [];
    for (const event of events) {
      if (event.id !== "") this.lastId = event.id;
      if (event.event === "reset") this.handlers.onReset();
      else if (messageEvents.has(event.event)) {
        messages.push({ event: event.event, data: JSON.parse(event.data) } as LiveMessage);
      }
    }
    if (messages.length > 0) this.handlers.onMessages(messages);
  }

  private async unlock(): Promise<void> {
    this.handlers.onConnection({ state: "locked" });
    if (!(await this.handlers.onLocked())) await new Promise<void>((resolve) => (this.wake = resolve));
    this.handlers.onReset();
  }

  private async poll(): Promise<void> {
    this.handlers.onConnection({ state: "polling" });
    for (let round = 0; round < 6 && !this.stopped; round += 1) {
      await this.wait(pollMs);
      try {
        await getHealth(AbortSignal.timeout(10_000));
      } catch {
        return;
      }
      this.handlers.onReset();
    }
  }

  private async waitOffline(): Promise<void> {
    if (this.failures === 0) this.offlineSince = Date.now();
    this.failures += 1;
    const delay = backoffMs(this.failures, Math.random());
    this.handlers.onConnection({
      state: "offline",
      sinceMs: this.offlineSince,
      retryAtMs: Date.now() + delay,
    });
    await this.wait(delay);
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

// The live stream and the dashboard's only notion of "connected". One stream is open at a time; it resumes by
// Last-Event-ID, and what it cannot continue from begins with a `reset`, upon which everything is fetched again.
//
//   connecting → live ⇄ offline (asking again, with back-off)
//        ↓         ↑
//      polling ----+     (the coordinator answers, but something between it and here holds the stream back; it is tried on)
//        ↓
//      locked            (reading needs a token; on when somebody gives one)
//
import { backoffMs } from "./backoff";
import { getHealth } from "./client";
import { serverNow } from "./server_clock";
import { readStream, Refused } from "./stream";
import type { Health, LiveMessage } from "./types";

export type Connection =
  | { state: "connecting" }
  | { state: "live" }
  | { state: "polling" }
  | { state: "locked" }
  /** By the coordinator's clock. */
  | { state: "offline"; sinceMs: number; retryAtMs: number };

export interface LiveHandlers {
  onConnection(connection: Connection): void;
  /** Messages arrive in the order of the stream. */
  onMessages(messages: LiveMessage[]): void;
  onHealth(health: Health): void;
  /** The coordinator refused to let us read. True: there is a token to try now. */
  onLocked(): Promise<boolean>;
}

/** The coordinator greets at once, so something on the way holds back a stream that is silent for longer. */
export const greetingMs = 3_000;
export const pollMs = 5_000;
const reconnectMs = 500;

export class LiveStream {
  private abort = new AbortController();
  private wake: () => void = () => undefined;
  private stopped = false;
  private failures = 0;
  private offlineSince = 0;
  /** Attempts at the stream since the last greeting. */
  private attempts = 0;
  /** It runs from the first attempt without a greeting to the next greeting. */
  private greetingTimer: ReturnType<typeof setTimeout> | null = null;
  private polling: ReturnType<typeof setTimeout> | null = null;

  /** `lastId`: the position to continue from; null for a first connection, before which nothing was fetched. */
  constructor(
    private readonly handlers: LiveHandlers,
    private lastId: number | null,
  ) {}

  start(): void {
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    this.stopPolling();
    this.stopAwaitingGreeting();
    this.abort.abort();
    this.wake();
  }

  /** Ends the current wait, if there is one. */
  retryNow(): void {
    this.wake();
  }

  private async run(): Promise<void> {
    this.tell({ state: "connecting" });
    while (!this.stopped) {
      const health = await this.askHealth();
      if (this.stopped) return;
      if (!health) {
        await this.waitOffline();
        continue;
      }
      this.failures = 0;
      this.lastId ??= health.live_id;
      if (await this.stream(this.lastId)) await this.wait(this.reconnectMs());
      else await this.unlock();
    }
  }

  private reconnectMs(): number {
    return this.attempts === 0 ? reconnectMs : backoffMs(this.attempts, Math.random());
  }

  private async askHealth(): Promise<Health | null> {
    try {
      const health = await getHealth(AbortSignal.timeout(10_000));
      this.handlers.onHealth(health);
      return health;
    } catch {
      return null;
    }
  }

  /** False if the coordinator refused it. After any other end the stream is opened again. */
  private async stream(lastId: number): Promise<boolean> {
    this.abort = new AbortController();
    this.attempts += 1;
    if (this.polling === null) this.greetingTimer ??= setTimeout(() => this.startPolling(), greetingMs);
    const onGreeting = () => {
      this.attempts = 0;
      this.stopAwaitingGreeting();
      this.stopPolling();
      this.tell({ state: "live" });
    };
    const onMessages = (messages: LiveMessage[]) => {
      if (this.stopped) return;
      this.lastId = messages.at(-1)!.id;
      this.handlers.onMessages(messages);
    };
    try {
      await readStream(lastId, { onGreeting, onMessages }, this.abort);
    } catch (error) {
      return !(error instanceof Refused);
    }
    return true;
  }

  private stopAwaitingGreeting(): void {
    if (this.greetingTimer !== null) clearTimeout(this.greetingTimer);
    this.greetingTimer = null;
  }

  private startPolling(): void {
    this.greetingTimer = null;
    this.tell({ state: "polling" });
    this.pollLater();
  }

  private pollLater(): void {
    this.polling = setTimeout(() => void this.poll(), pollMs);
  }

  private stopPolling(): void {
    if (this.polling !== null) clearTimeout(this.polling);
    this.polling = null;
  }

  /** Polls while the attempts to open the stream continue. */
  private async poll(): Promise<void> {
    const turn = this.polling;
    const health = await this.askHealth();
    if (this.stopped || this.polling !== turn) return;
    if (!health) return this.tryAtOnce();
    const moved = health.live_id !== this.lastId;
    this.lastId = health.live_id;
    if (moved) this.handlers.onMessages([{ id: health.live_id, event: "reset" }]);
    this.pollLater();
  }

  private tryAtOnce(): void {
    this.attempts = 0;
    this.abort.abort();
    this.wake();
  }

  private async unlock(): Promise<void> {
    this.stopAwaitingGreeting();
    this.stopPolling();
    this.tell({ state: "locked" });
    if (!(await this.handlers.onLocked())) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  private async waitOffline(): Promise<void> {
    this.stopAwaitingGreeting();
    this.stopPolling();
    if (this.failures === 0) this.offlineSince = serverNow();
    this.failures += 1;
    const delay = backoffMs(this.failures, Math.random());
    this.tell({ state: "offline", sinceMs: this.offlineSince, retryAtMs: serverNow() + delay });
    await this.wait(delay);
  }

  private tell(connection: Connection): void {
    if (!this.stopped) this.handlers.onConnection(connection);
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

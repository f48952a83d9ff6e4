// One live stream for all tabs of an origin, because a browser opens at most six connections to a host. The tab that holds a
// lock leads: it has the stream and passes messages on. A tab releases the stream soon after it is hidden, and continues
// from its last message when it is shown again. Without locks (they need https or localhost) every visible tab has a stream
// of its own.
import { LiveStream, type Connection, type LiveHandlers } from "../api/live";
import type { LiveMessage } from "../api/types";
import { randomKey } from "./draft";

/** A short visit to another tab is no reason to release the stream. */
export const lettingGoMs = 5_000;
/** The number of messages that a leader keeps for tabs that come back. */
const remembered = 2_000;

type Word =
  | { word: "hello"; tab: string; lastId: number | null }
  | { word: "welcome"; tab: string; connection: Connection; messages: LiveMessage[]; lastId: number | null }
  | { word: "connection"; connection: Connection }
  | { word: "messages"; messages: LiveMessage[] }
  | { word: "leading" }
  | { word: "retry" };

/** The parts of the browser that it uses; tests have their own. */
export interface Browser {
  locks: Pick<LockManager, "request"> | null;
  channel(name: string): Channel;
  onVisibility(changed: () => void): void;
  isHidden(): boolean;
}

export interface Channel {
  onmessage: ((event: MessageEvent<Word>) => void) | null;
  postMessage(word: Word): void;
  close(): void;
}

export interface TabHandlers extends LiveHandlers {
  /** Another tab leads. This tab asks by itself whose token it has and what the time is. */
  onFollowing(): void;
}

export class TabLink {
  private readonly tab = randomKey();
  private channel: Channel | null = null;
  private stream: LiveStream | null = null;
  /** Stops waiting for the lead. */
  private wish = new AbortController();
  private stopLeading: () => void = () => undefined;
  private lettingGo: ReturnType<typeof setTimeout> | null = null;
  private lastId: number | null = null;
  /** The new leader has sent a greeting. Messages before its answer, which includes them, would leave a gap. */
  private awaitsWelcome = false;
  private connection: Connection = { state: "connecting" };
  /** While leading: the newest messages, complete after `from`. */
  private memory: { from: number | null; messages: LiveMessage[] } = { from: null, messages: [] };

  constructor(
    private readonly name: string,
    private readonly handlers: TabHandlers,
    private readonly browser: Browser,
  ) {}

  start(): void {
    this.browser.onVisibility(() => this.followVisibility());
    this.join();
  }

  /** The reader wants it now. A following tab that lacks a token asks for one and opens a stream of its own. */
  retryNow(): void {
    if (this.stream) this.stream.retryNow();
    else if (this.connection.state === "locked") void this.unlock();
    else this.channel?.postMessage({ word: "retry" });
  }

  private async unlock(): Promise<void> {
    if (await this.handlers.onLocked()) this.wishToLead({ steal: true });
  }

  private followVisibility(): void {
    if (this.lettingGo !== null) clearTimeout(this.lettingGo);
    this.lettingGo = null;
    if (this.browser.isHidden()) this.lettingGo = setTimeout(() => this.leave(), lettingGoMs);
    else if (this.channel === null) this.join();
    else if (this.connection.state === "offline") this.retryNow();
  }

  private join(): void {
    this.tell({ state: "connecting" });
    this.channel = this.browser.channel(this.name);
    this.channel.onmessage = ({ data }) => this.hear(data);
    if (this.browser.locks === null) return this.lead();
    this.greet();
    this.wishToLead({});
  }

  private greet(): void {
    this.awaitsWelcome = true;
    this.channel?.postMessage({ word: "hello", tab: this.tab, lastId: this.lastId });
  }

  private leave(): void {
    this.wish.abort();
    this.stopLeading();
    this.channel?.close();
    this.channel = null;
    this.tell({ state: "connecting" });
  }

  /** The lock is held until the returned promise settles. */
  private wishToLead(how: { steal?: boolean }): void {
    this.wish.abort();
    const wish = (this.wish = new AbortController());
    const lead = () =>
      new Promise<void>((resolve) => {
        if (wish.signal.aborted) return resolve();
        this.lead();
        const { stopLeading } = this;
        this.stopLeading = () => (stopLeading(), resolve());
      });
    // A request for a lock cannot both steal it and have a signal.
    const options = how.steal ? how : { signal: wish.signal };
    this.browser.locks!.request(this.name, options, lead).catch(() => {
      if (wish.signal.aborted) return;
      this.stopLeading();
      this.wishToLead({});
    });
  }

  private lead(): void {
    this.awaitsWelcome = false;
    this.memory = { from: this.lastId, messages: [] };
    const stream = new LiveStream(
      {
        onConnection: (connection) => {
          this.tell(connection);
          this.channel?.postMessage({ word: "connection", connection });
        },
        onMessages: (messages) => {
          this.remember(messages);
          this.receive(messages);
          this.channel?.postMessage({ word: "messages", messages });
        },
        onHealth: (health) => {
          // Without a position, the first answer gives it before anything is fetched.
          this.lastId ??= health.live_id;
          this.memory.from ??= health.live_id;
          this.handlers.onHealth(health);
        },
        onLocked: () => this.handlers.onLocked(),
      },
      this.lastId,
    );
    this.stream = stream;
    this.stopLeading = () => {
      stream.stop();
      this.stream = null;
      this.stopLeading = () => undefined;
    };
    this.channel?.postMessage({ word: "leading" });
    stream.start();
  }

  private remember(messages: LiveMessage[]): void {
    for (const message of messages) {
      if (message.event === "reset") this.memory = { from: message.id, messages: [] };
      else this.memory.messages.push(message);
    }
    const beyond = this.memory.messages.splice(0, Math.max(0, this.memory.messages.length - remembered));
    this.memory.from = beyond.at(-1)?.id ?? this.memory.from;
  }

  private hear(word: Word): void {
    if (this.stream) return this.hearAsLeader(word);
    if (word.word === "leading") this.greet();
    else if (word.word === "welcome" && word.tab === this.tab) {
      this.awaitsWelcome = false;
      this.lastId ??= word.lastId;
      if (word.messages.length > 0) this.receive(word.messages);
      this.tell(word.connection);
      this.handlers.onFollowing();
    } else if (word.word === "connection") {
      this.tell(word.connection);
    } else if (word.word === "messages" && !this.awaitsWelcome) {
      this.receive(word.messages);
    }
  }

  private hearAsLeader(word: Word): void {
    if (word.word === "retry") this.stream?.retryNow();
    if (word.word !== "hello") return;
    this.channel?.postMessage({
      word: "welcome",
      tab: word.tab,
      connection: this.connection,
      messages: this.missedAfter(word.lastId),
      lastId: this.lastId,
    });
  }

  /** The messages that a returning tab has missed: all of them, or a reset. */
  private missedAfter(lastId: number | null): LiveMessage[] {
    const { from, messages } = this.memory;
    if (lastId === null || this.lastId === null) return [];
    if (from === null || lastId < from) return [{ id: this.lastId, event: "reset" }];
    return messages.filter(({ id }) => id > lastId);
  }

  private receive(messages: LiveMessage[]): void {
    this.lastId = messages.at(-1)!.id;
    this.handlers.onMessages(messages);
  }

  private tell(connection: Connection): void {
    this.connection = connection;
    this.handlers.onConnection(connection);
  }
}

/** The browser of this page. */
export const thisBrowser = (): Browser => ({
  locks: navigator.locks ?? null,
  channel: (name) => new BroadcastChannel(name),
  onVisibility: (changed) => document.addEventListener("visibilitychange", changed),
  isHidden: () => document.hidden,
});

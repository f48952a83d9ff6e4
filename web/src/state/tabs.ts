// One live stream for all tabs of an origin, for a browser opens six connections to a host and no more. The tab that holds
// a lock leads: it has the stream and passes on what comes. A tab lets go soon after it is hidden, and goes on from the
// last message it had when it is shown again. Where the browser has no locks (they need https or localhost) every tab
// that is seen has a stream of its own.
import { LiveStream, type Connection, type LiveHandlers } from "../api/live";
import type { LiveMessage } from "../api/types";
import { randomKey } from "./draft";

/** A glance at another tab is no reason to let go. */
export const lettingGoMs = 5_000;
/** What a leader keeps for tabs that come back. */
const remembered = 2_000;

type Word =
  | { word: "hello"; tab: string; lastId: number | null }
  | { word: "welcome"; tab: string; connection: Connection; messages: LiveMessage[]; lastId: number | null }
  | { word: "connection"; connection: Connection }
  | { word: "messages"; messages: LiveMessage[] }
  | { word: "leading" }
  | { word: "retry" };

/** What of the browser it needs; tests have their own. */
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
  /** The tab is led by another: it asks for itself whose token it has and what the time is. */
  onFollowing(): void;
}

export class TabLink {
  private readonly tab = randomKey();
  private channel: Channel | null = null;
  private stream: LiveStream | null = null;
  /** Ends the wish to lead. */
  private wish = new AbortController();
  private stopLeading: () => void = () => undefined;
  private lettingGo: ReturnType<typeof setTimeout> | null = null;
  private lastId: number | null = null;
  /** It has greeted: what is told before the leader's answer, which has it, too, would leave a gap. */
  private awaitsWelcome = false;
  private connection: Connection = { state: "connecting" };
  /** While leading: the newest messages, whole after `from`. */
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

  /** The person wants it now; of those who follow, where a token is missing, with a token and a stream of this tab. */
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

  /** The lock is held for as long as the promise that is returned to it lasts. */
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
    // A lock cannot be both stolen and waited for with a signal.
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
          // Without a position the first answer gives it, before anything is fetched.
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

  /** What a tab that comes back has missed: all of it, or a reset. */
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

/** The browser that this page is in. */
export const thisBrowser = (): Browser => ({
  locks: navigator.locks ?? null,
  channel: (name) => new BroadcastChannel(name),
  onVisibility: (changed) => document.addEventListener("visibilitychange", changed),
  isHidden: () => document.hidden,
});

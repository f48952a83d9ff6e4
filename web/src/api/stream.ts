// One connection to the live stream, read to its end. live.ts decides when there is one.
import { authorization, prefix } from "./client";
import { EventParser, type ServerEvent } from "./sse";
import type { LiveMessage } from "./types";

/** The coordinator refused to let us read. */
export class Refused extends Error {}

export interface StreamReader {
  /** The first bytes arrived. What is fetched from now on, together with the stream, misses nothing. */
  onGreeting(): void;
  onMessages(messages: LiveMessage[]): void;
}

const messageEvents = new Set(["job", "node", "account", "metrics"]);

/** The coordinator sends at least a comment every 15 s. After this long without a byte the connection is dead. */
export const silenceMs = 40_000;

/** A message that cannot be read is a gap. A reset takes its place; the other messages stay. */
export function readMessages(events: readonly ServerEvent[]): LiveMessage[] {
  return events.flatMap(({ id: text, event, data }): LiveMessage[] => {
    const id = Number(text);
    if (event === "reset") return [{ id, event }];
    if (!messageEvents.has(event)) return [];
    try {
      return [{ id, event, data: JSON.parse(data) as unknown } as LiveMessage];
    } catch {
      return [{ id, event: "reset" }];
    }
  });
}

/** Returns when the stream ends; throws when it breaks, falls silent or is refused. */
export async function readStream(
  lastId: number,
  reader: StreamReader,
  abort: AbortController,
): Promise<void> {
  const fallSilent = () => abort.abort(new Error("the stream is silent"));
  let watchdog = setTimeout(fallSilent, silenceMs);
  try {
    const response = await fetch(`${prefix}/live`, {
      headers: { ...authorization(), Accept: "text/event-stream", "Last-Event-ID": String(lastId) },
      cache: "no-store",
      signal: abort.signal,
    });
    if (response.status === 401 || response.status === 403) throw new Refused();
    if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
    const chunks = response.body.getReader();
    const decoder = new TextDecoder();
    const parser = new EventParser();
    let greeted = false;
    for (;;) {
      const { done, value } = await chunks.read();
      if (done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(fallSilent, silenceMs);
      if (!greeted) reader.onGreeting();
      greeted = true;
      const messages = readMessages(parser.push(decoder.decode(value, { stream: true })));
      if (messages.length > 0) reader.onMessages(messages);
    }
  } finally {
    clearTimeout(watchdog);
    abort.abort();
  }
}

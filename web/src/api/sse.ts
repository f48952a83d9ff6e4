// The server-sent events format, as text in and events out. Pure: the network is in live.ts.

export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Keeps what is left of an unfinished event between chunks. */
export class EventParser {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];

  /** The events completed by this chunk; a lone "\r" at its end waits for the next one. */
  push(chunk: string): ServerEvent[] {
    const text = this.rest + chunk;
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) {
      const done = this.line(line);
      if (done) events.push(done);
    }
    return events;
  }

  private line(line: string): ServerEvent | null {
    if (line === "") return this.finish();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.id = value;
    else if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    return null;
  }

  private finish(): ServerEvent | null {
    const { event, data } = this;
    this.event = "";
    this.data = [];
    // A `reset` carries no data, so unlike in a browser's EventSource an event needs only one of the two.
    if (event === "" && data.length === 0) return null;
    return { id: this.id, event: event || "message", data: data.join("\n") };
  }
}

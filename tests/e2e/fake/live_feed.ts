// The live stream: numbered events, a bounded memory to resume from, and `reset` for clients that are too far behind or come
// from another process.
import type { IncomingMessage, ServerResponse } from "node:http";

const remembered = 2000;

interface Kept {
  id: number;
  text: string;
}

export class LiveFeed {
  /** The Last-Event-ID of every connection so far. */
  readonly resumedFrom: number[] = [];
  /** Accepts connections and sends nothing, as a buffering proxy does. */
  held = false;
  private nextId = 1;
  /** The memory is complete from this id on. */
  private firstId = 1;
  private readonly kept: Kept[] = [];
  /** The id of the newest message, or of a change that was not reported. */
  toldId = 0;
  private readonly open_ = new Set<ServerResponse>();

  constructor(private readonly check: (event: string, data: unknown) => void) {}

  get lastId(): number {
    return this.nextId - 1;
  }

  get connections(): number {
    return this.open_.size;
  }

  /** A process that starts now: its ids are higher than any before. */
  restart(): void {
    this.nextId = this.firstId = Math.max(this.nextId + 1, Date.now());
    this.toldId = this.lastId;
    this.kept.length = 0;
  }

  open(request: IncomingMessage, response: ServerResponse): void {
    const from = Number(request.headers["last-event-id"] ?? this.lastId);
    this.resumedFrom.push(from);
    this.open_.add(response);
    response.on("close", () => this.open_.delete(response));
    if (this.held) return;
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(": live\n\n");
    const next = from + 1;
    if (next < this.firstId || next > this.nextId)
      response.write(`id: ${this.lastId}\nevent: reset\ndata: {}\n\n`);
    else for (const { id, text } of this.kept) if (id > from) response.write(text);
  }

  /** An id for readings from now on. */
  takeId(): number {
    return this.nextId++;
  }

  push(event: string, data: unknown): void {
    this.check(event, data);
    const id = (this.toldId = this.nextId++);
    const text = `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    this.kept.push({ id, text });
    if (this.kept.length > remembered) this.firstId = this.kept.shift()!.id + 1;
    if (!this.held) for (const response of this.open_) response.write(text);
  }

  /** Something happened without a message: clients that resume must fetch everything again. */
  skip(): void {
    this.kept.length = 0;
    this.toldId = this.nextId;
    this.firstId = ++this.nextId;
  }

  closeAll(): void {
    for (const response of this.open_) response.destroy();
    this.open_.clear();
  }
}

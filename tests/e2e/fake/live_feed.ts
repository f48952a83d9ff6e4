// The live stream: numbered events, a bounded memory to resume from, `reset` for who is too far behind.
import type { IncomingMessage, ServerResponse } from "node:http";

const remembered = 2000;

interface Kept {
  id: number;
  text: string;
}

export class LiveFeed {
  lastId = 0;
  /** Last-Event-ID of every connection so far. */
  readonly resumedFrom: number[] = [];
  private readonly kept: Kept[] = [];
  private readonly open_ = new Set<ServerResponse>();

  get connections(): number {
    return this.open_.size;
  }

  open(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(": hello\n\n");
    const from = Number(request.headers["last-event-id"] ?? this.lastId);
    this.resumedFrom.push(from);
    const oldest = this.kept[0]?.id ?? this.lastId + 1;
    if (from + 1 < oldest) response.write(`id: ${this.lastId}\nevent: reset\n\n`);
    else for (const { id, text } of this.kept) if (id > from) response.write(text);
    this.open_.add(response);
    response.on("close", () => this.open_.delete(response));
  }

  push(event: string, data: unknown, _job?: number): void {
    this.lastId += 1;
    const text = `id: ${this.lastId}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    this.kept.push({ id: this.lastId, text });
    if (this.kept.length > remembered) this.kept.shift();
    for (const response of this.open_) response.write(text);
  }

  forget(): void {
    this.kept.length = 0;
  }

  closeAll(): void {
    for (const response of this.open_) response.destroy();
    this.open_.clear();
  }
}

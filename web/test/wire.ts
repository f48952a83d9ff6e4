// A coordinator behind `fetch`, answered by the test.
import { vi } from "vitest";

export interface Request {
  path: string;
  headers: Record<string, string>;
  method: string;
  body: string;
  signal: AbortSignal;
  answer(body: unknown, status?: number, headers?: Record<string, string>): Promise<void>;
  fail(): Promise<void>;
}

export interface OpenStream {
  lastId: number;
  send(text: string): Promise<void>;
  end(): Promise<void>;
  broken(): boolean;
}

const settle = async () => void (await vi.advanceTimersByTimeAsync(0));

/** Replaces fetch, storage and the address; for fake timers. */
export class Wire {
  readonly requests: Request[] = [];
  readonly streams: OpenStream[] = [];
  /** The status of the answer to a stream: null leaves the request without an answer. */
  streamStatus: number | null = 200;
  health: { live_id: number; token: string } | null = { live_id: 100, token: "nobody" };
  healthAsked = 0;

  constructor() {
    const storage = new Map<string, string>();
    const store = {
      getItem: (key: string) => storage.get(key) ?? null,
      setItem: (key: string, value: string) => storage.set(key, value),
      removeItem: (key: string) => storage.delete(key),
    };
    vi.stubGlobal("sessionStorage", store);
    vi.stubGlobal("localStorage", store);
    vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) =>
      this.fetch(path.slice("api/v1".length), init),
    );
  }

  to(path: string): Request[] {
    return this.requests.filter((request) => request.path.startsWith(path));
  }

  private fetch(path: string, init: RequestInit): Promise<Response> {
    const signal = init.signal ?? new AbortController().signal;
    const headers = init.headers as Record<string, string>;
    if (path === "/health") return this.answerHealth();
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      if (path === "/live") return this.openStream(Number(headers["Last-Event-ID"]), signal, resolve);
      this.requests.push({
        path,
        headers,
        method: init.method ?? "GET",
        body: String(init.body ?? ""),
        signal,
        answer: (body, status = 200, more = {}) => {
          const type = { "Content-Type": status < 400 ? "application/json" : "application/problem+json" };
          resolve(new Response(JSON.stringify(body), { status, headers: { ...type, ...more } }));
          return settle();
        },
        fail: () => (reject(new TypeError("failed to fetch")), settle()),
      });
    });
  }

  private async answerHealth(): Promise<Response> {
    this.healthAsked += 1;
    if (this.health === null) throw new TypeError("failed to fetch");
    return new Response(JSON.stringify({ status: "ok", uptime_seconds: 1, ...this.health }));
  }

  private openStream(lastId: number, signal: AbortSignal, resolve: (response: Response) => void): void {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    let broken = false;
    const body = new ReadableStream<Uint8Array>({ start: (it) => void (controller = it) });
    signal.addEventListener("abort", () => {
      if (!broken) controller.error(new DOMException("aborted", "AbortError"));
      broken = true;
    });
    this.streams.push({
      lastId,
      send: (text) => (controller.enqueue(new TextEncoder().encode(text)), settle()),
      end: () => ((broken = true), controller.close(), settle()),
      broken: () => broken,
    });
    if (this.streamStatus !== null)
      resolve(new Response(this.streamStatus === 200 ? body : "", { status: this.streamStatus }));
  }
}

export const greeting = ": live\n\n";
export const message = (id: number, event: string, data: unknown = {}) =>
  `id: ${id}\nevent: ${event}\ndata: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

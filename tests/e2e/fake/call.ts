// One request to the fake coordinator, parsed as strictly as the real one does.
import type { IncomingMessage } from "node:http";

export interface Mistake {
  message: string;
  where: string;
}

/** An answer that refuses. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly mistakes: Mistake[] = [],
    readonly headers: Record<string, string> = {},
  ) {
    super(detail);
  }
}

export const noSuch = (what: string) => new Refusal(404, `there is no ${what}`);

export interface Answer {
  status: number;
  body: unknown;
  type?: string;
  headers?: Record<string, string>;
}

export const ok = (body: unknown, status = 200): Answer => ({ status, body });

/** A parameter that no handler reads is unknown. */
export class Query {
  private readonly asked = new Set<string>();
  private readonly mistakes: Mistake[] = [];

  constructor(private readonly given: URLSearchParams) {}

  all(name: string): string[] {
    this.asked.add(name);
    return this.given.getAll(name);
  }

  text(name: string): string | null {
    return this.all(name)[0] ?? null;
  }

  integer(name: string, fallback: number, least: number, most: number): number {
    const text = this.text(name);
    if (text === null) return fallback;
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      this.refuse(name, `must be a whole number from ${least} to ${most}, not "${text}"`);
    return value;
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const text = this.text(name) ?? fallback;
    if (!(values as readonly string[]).includes(text)) this.refuse(name, `must be ${values.join(" or ")}`);
    return text as Value;
  }

  refuse(name: string, why: string): void {
    this.mistakes.push({ message: `query parameter "${name}" ${why}`, where: name });
  }

  /** Called once all parameters have been read. */
  check(): void {
    for (const name of this.given.keys())
      if (!this.asked.has(name))
        this.mistakes.push({ message: `unknown query parameter "${name}"`, where: name });
    if (this.mistakes.length > 0) throw new Refusal(400, this.mistakes[0]!.message, this.mistakes);
  }
}

export interface Call {
  method: string;
  /** The decoded path without the prefix. */
  path: string[];
  query: Query;
  request: IncomingMessage;
  body: unknown;
  isUser: boolean;
}

interface Page<Item> {
  items: Item[];
  more: { next_page_token?: string };
}

/** The entries after the one that `page_token` names. */
export function pageOf<Item>(
  all: readonly Item[],
  query: Query,
  keyOf: (item: Item) => string | number,
): Page<Item> {
  const limit = query.integer("limit", 100, 1, 1000);
  const token = query.text("page_token");
  query.check();
  const from =
    token === null || token === "0" ? 0 : all.findIndex((item) => String(keyOf(item)) === token) + 1;
  const items = all.slice(from, from + limit);
  const last = items.at(-1);
  const isLast = last === undefined || from + items.length >= all.length;
  return { items, more: isLast ? {} : { next_page_token: String(keyOf(last)) } };
}

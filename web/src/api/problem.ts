// What goes wrong when talking to the coordinator. `Unreachable` is the world; `Problem` is an answer that says no.
import type { ProblemBody } from "./types";

export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly requestId: string;
  readonly errors: { message: string; where?: string }[];

  constructor(status: number, body: ProblemBody) {
    const title = body.title ?? `The coordinator answered ${status}`;
    super(body.detail || title);
    this.name = "Problem";
    this.status = status;
    this.title = title;
    this.requestId = body.request_id ?? "";
    this.errors = body.errors ?? [];
  }
}

export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("the coordinator did not answer", { cause });
    this.name = "Unreachable";
  }
}

/** One sentence for a person, with the request id to look up in the coordinator's log. */
export function explain(error: unknown): string {
  if (error instanceof Unreachable)
    return "The coordinator did not answer. It is asked again as soon as it is back.";
  if (error instanceof Problem) {
    const id = error.requestId ? ` (request ${error.requestId})` : "";
    const said =
      error.errors.length > 1 ? error.errors.map(({ message }) => message).join("; ") : error.message;
    return `${said}${id}`;
  }
  return error instanceof Error ? error.message : String(error);
}

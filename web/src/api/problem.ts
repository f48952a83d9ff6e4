// What goes wrong when talking to the coordinator. `Unreachable` is the world; `Problem` is an answer that says no.
import type { ProblemBody } from "./types";

export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly requestId: string;
  readonly errors: NonNullable<ProblemBody["errors"]>;
  /** The coordinator wishes not to be asked again before; 0 where it does not say. */
  readonly retryAfterMs: number;

  constructor(status: number, body: ProblemBody, retryAfterMs = 0) {
    const title = body.title ?? `The coordinator answered ${status}`;
    super(body.detail || title);
    this.name = "Problem";
    this.status = status;
    this.title = title;
    this.requestId = body.request_id ?? "";
    this.errors = body.errors ?? [];
    this.retryAfterMs = retryAfterMs;
  }
}

export class Unreachable extends Error {
  constructor(
    cause: unknown,
    /** What was asked for may have been done all the same. */
    readonly mayBeDone = false,
  ) {
    super("the coordinator did not answer", { cause });
    this.name = "Unreachable";
  }
}

/** One sentence for a person, with the request id to look up in the coordinator's log. */
export function explain(error: unknown): string {
  if (error instanceof Unreachable)
    return error.mayBeDone
      ? "The coordinator did not answer. It may have been done; the list will tell."
      : "The coordinator did not answer. It is asked again by itself.";
  if (error instanceof Problem) {
    const id = error.requestId ? ` (request ${error.requestId})` : "";
    const said =
      error.errors.length > 1 ? error.errors.map(({ message }) => message).join("; ") : error.message;
    return `${said}${id}`;
  }
  return error instanceof Error ? error.message : String(error);
}

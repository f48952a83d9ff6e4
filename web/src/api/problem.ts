// What goes wrong in a conversation with the coordinator. `Unreachable`: no answer arrived. `Problem`: the answer was a
// refusal.
import type { ProblemBody } from "./types";

export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly requestId: string;
  readonly errors: NonNullable<ProblemBody["errors"]>;
  /** How long the coordinator asks us to wait; 0 if it does not say. */
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
    /** The request was a change, which the coordinator may have made although no answer arrived. */
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
      ? "The coordinator did not answer. It may have made the change: look at the list."
      : "The coordinator did not answer. The dashboard asks again by itself.";
  if (error instanceof Problem) {
    const id = error.requestId ? ` (request ${error.requestId})` : "";
    const said =
      error.errors.length > 1 ? error.errors.map(({ message }) => message).join("; ") : error.message;
    return `${said}${id}`;
  }
  return error instanceof Error ? error.message : String(error);
}

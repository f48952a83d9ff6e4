// The coordinator's problems with a spec, with the lines that they are about.
import type { ProblemBody } from "../api/types";

export interface SpecProblem {
  message: string;
  /** From 1; null if the problem is about the whole spec. */
  line: number | null;
  column: number | null;
}

export function readProblems(errors: NonNullable<ProblemBody["errors"]>): SpecProblem[] {
  return errors.map(({ message, where }) => {
    const match = /:(\d+)(?::(\d+))?$/.exec(where ?? "");
    return { message, line: match ? Number(match[1]) : null, column: match?.[2] ? Number(match[2]) : null };
  });
}

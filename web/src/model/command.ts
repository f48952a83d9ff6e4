// What a job does: it trains, serves a model, or runs a program of its own.

/** The words of the command; null for a training. */
export function commandOf(spec: unknown): string[] | null {
  const { command } = (spec ?? {}) as { command?: unknown };
  return Array.isArray(command) ? command.map(String) : null;
}

/** Whether the job serves a model, which has neither steps nor a limit of failures. */
export const isReplica = (spec: unknown) => ((spec ?? {}) as { task?: unknown }).task === "serve";

const plain = /^[\w@%+=:,./-]+$/;

/** As one would type it into a shell. */
export const commandLine = (words: readonly string[]) =>
  words.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

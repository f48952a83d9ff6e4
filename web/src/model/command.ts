// Jobs that run a program of their own instead of training.

/** The words of the command; null for a training. */
export function commandOf(spec: unknown): string[] | null {
  const { command } = (spec ?? {}) as { command?: unknown };
  return Array.isArray(command) ? command.map(String) : null;
}

const plain = /^[\w@%+=:,./-]+$/;

/** As one would type it into a shell. */
export const commandLine = (words: readonly string[]) =>
  words.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

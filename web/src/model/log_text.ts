// The tail of a log as it grows: whole lines only at its head, bounded, with terminal colour codes taken out.

export const mostCharacters = 400_000;

const escapes = /\u001b\[[0-9;?]*[A-Za-z]/g;

export function appendLog(text: string, chunk: string): string {
  const joined = text + chunk.replace(escapes, "");
  if (joined.length <= mostCharacters) return joined;
  const cut = joined.indexOf("\n", joined.length - mostCharacters);
  return joined.slice(cut + 1);
}

/** A tail by bytes may begin in the middle of a line, which would only mislead. */
export function wholeLines(tail: string, fromStart: boolean): string {
  return fromStart ? tail : tail.slice(tail.indexOf("\n") + 1);
}

// The end of a log as it grows, from bytes to the lines that a terminal would show: a carriage return overwrites the line,
// colours and titles are removed, and characters and escapes that were cut between two chunks are joined.

export const mostCharacters = 400_000;
/** Once a part of whole lines is this long, it no longer changes. */
const partCharacters = 8_192;

// Colours and cursor moves; window titles and links; other escapes of two characters.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
const unfinished = /(?:\r|\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]{0,4096}\u001b?)?)$/;
const newline = 0x0a;

export interface LogParts {
  /** The number of the first part, which increases when parts are removed before it. */
  first: number;
  texts: readonly string[];
}

export const emptyLog: LogParts = { first: 0, texts: [""] };

export const isEmptyLog = ({ first, texts }: LogParts) => first === 0 && texts.every((text) => text === "");

export class LogText {
  private readonly decoder = new TextDecoder();
  /** Bytes that only the next chunk completes. */
  private rest = "";
  private readonly finished: string[] = [];
  /** The number of parts that were removed. */
  private cut = 0;
  /** The whole lines of the part that is being written. */
  private lines = "";
  private line = "";
  /** Where the next character goes in `line`. */
  private column = 0;

  /** The whole text in parts. Only the last part changes, so a view lays out that part alone. */
  get parts(): LogParts {
    return { first: this.cut, texts: [...this.finished, this.lines + this.line] };
  }

  append(bytes: Uint8Array): void {
    const text = this.rest + this.decoder.decode(bytes, { stream: true });
    this.rest = unfinished.exec(text)?.[0] ?? "";
    const known = text.slice(0, text.length - this.rest.length).replace(escapes, "");
    for (const part of known.split(/(\r\n|\n|\r)/)) this.write(part);
  }

  private write(part: string): void {
    if (part === "\n" || part === "\r\n") {
      this.endLine();
    } else if (part === "\r") {
      this.column = 0;
    } else {
      this.line = this.line.slice(0, this.column) + part + this.line.slice(this.column + part.length);
      this.column += part.length;
    }
  }

  private endLine(): void {
    this.lines += `${this.line}\n`;
    this.line = "";
    this.column = 0;
    if (this.lines.length < partCharacters) return;
    this.finished.push(this.lines);
    this.lines = "";
  }

  /** Removes parts at the start while the text exceeds the bound. */
  trim(): void {
    let length = this.lines.length + this.line.length;
    for (const part of this.finished) length += part.length;
    while (length > mostCharacters && this.finished.length > 0) {
      length -= this.finished.shift()!.length;
      this.cut += 1;
    }
  }
}

/** A tail by bytes may begin in the middle of a line; that part of a line would mislead. */
export const wholeLines = (tail: Uint8Array, fromStart: boolean): Uint8Array =>
  fromStart ? tail : tail.subarray(tail.indexOf(newline) + 1);

// The end of a log as it grows, from bytes to lines as a terminal would show them: a carriage return writes over the line,
// colours and titles are taken out, characters and escapes that are cut between two chunks are put together.

export const mostCharacters = 400_000;
/** A part of whole lines that is as long changes no more. */
const partCharacters = 8_192;

// Colours and cursor moves; window titles and links; the two-character rest.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
const unfinished = /(?:\r|\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]{0,4096}\u001b?)?)$/;
const newline = 0x0a;

export interface LogParts {
  /** The number of the first, which goes up when parts are cut off before it. */
  first: number;
  texts: readonly string[];
}

export const emptyLog: LogParts = { first: 0, texts: [""] };

export const isEmptyLog = ({ first, texts }: LogParts) => first === 0 && texts.every((text) => text === "");

export class LogText {
  private readonly decoder = new TextDecoder();
  /** What only the next chunk explains. */
  private rest = "";
  private readonly finished: string[] = [];
  /** How many parts were cut off before those. */
  private cut = 0;
  /** Whole lines of the part that is being written. */
  private lines = "";
  private line = "";
  /** Where the next character goes in `line`. */
  private column = 0;

  /** All of it, in parts of which only the last changes; what shows them needs to lay out that alone. */
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

  /** Cuts off parts at its head while it is beyond the bound. */
  trim(): void {
    let length = this.lines.length + this.line.length;
    for (const part of this.finished) length += part.length;
    while (length > mostCharacters && this.finished.length > 0) {
      length -= this.finished.shift()!.length;
      this.cut += 1;
    }
  }
}

/** A tail by bytes may begin in the middle of a line, which would only mislead. */
export const wholeLines = (tail: Uint8Array, fromStart: boolean): Uint8Array =>
  fromStart ? tail : tail.subarray(tail.indexOf(newline) + 1);

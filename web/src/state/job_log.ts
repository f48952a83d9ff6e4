// The end of one task's log. Each request continues where the last answer ended.
import { getLog, type LogQuery } from "../api/client";
import { LogText, wholeLines, type LogParts } from "../model/log_text";
import type { Ask } from "./queries";

const tailBytes = 65_536;

export interface LogSoFar {
  parts: LogParts;
  offset: number;
  /** The number of successive answers without text: for an ended attempt, a few of them mean that there is no more. */
  quiet: number;
}

/** `isFollowed`: false keeps the text that the reader looks at, however much arrives after it. */
export function askForLog(job: number, query: LogQuery, isFollowed: () => boolean): Ask<LogSoFar> {
  let log = new LogText();
  return async ({ before, signal }) => {
    const chunk = await getLog(job, query, before ? { offset: before.offset } : { tail: tailBytes }, signal);
    if (!before) log = new LogText();
    if (before && chunk.bytes.length === 0) return { ...before, quiet: before.quiet + 1 };
    log.append(before ? chunk.bytes : wholeLines(chunk.bytes, chunk.nextOffset <= tailBytes));
    if (isFollowed()) log.trim();
    return { parts: log.parts, offset: chunk.nextOffset, quiet: chunk.bytes.length === 0 ? 1 : 0 };
  };
}

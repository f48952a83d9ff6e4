// The end of one task's log, followed as it grows.
import { useEffect, useState } from "preact/hooks";
import { getLog, type LogQuery } from "../api/client";
import { explain, Problem, Unreachable } from "../api/problem";
import { appendLog, wholeLines } from "../model/log_text";

const tailBytes = 65_536;
const followMs = 1_000;
const finishedMs = 10_000;

export interface LogState {
  text: string;
  error: string;
  loading: boolean;
}

export function useLog(job: number, query: LogQuery, growing: boolean): LogState {
  const [state, setState] = useState<LogState>({ text: "", error: "", loading: true });
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    let offset: number | null = null;
    setState({ text: "", error: "", loading: true });
    const turn = async () => {
      try {
        const chunk = await getLog(
          job,
          query,
          offset === null ? { tail: tailBytes } : { offset },
          abort.signal,
        );
        const text = offset === null ? wholeLines(chunk.text, chunk.nextOffset <= tailBytes) : chunk.text;
        offset = chunk.nextOffset;
        setState((old) =>
          text || old.loading ? { text: appendLog(old.text, text), error: "", loading: false } : old,
        );
      } catch (error) {
        if (abort.signal.aborted) return;
        const missing = error instanceof Problem && error.status === 404;
        if (!(error instanceof Unreachable)) {
          setState((old) => ({ ...old, error: missing ? "" : explain(error), loading: false }));
        }
      }
      if (!abort.signal.aborted)
        timer = setTimeout(turn, growing && !document.hidden ? followMs : finishedMs);
    };
    void turn();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [job, query.attempt, query.rank, query.stream, growing]);
  return state;
}

// The history of one job, asked for from where the last answer ended.
import { useEffect, useRef, useState } from "preact/hooks";
import { getJobEvents } from "../api/client";
import { explain, Unreachable } from "../api/problem";
import type { JobEvent } from "../api/types";

export interface History {
  events: readonly JobEvent[];
  error: string;
}

/** `inputs` ask for what is new. */
export function useHistory(job: number, inputs: unknown[]): History {
  const [history, setHistory] = useState<History>({ events: [], error: "" });
  const last = useRef(0);
  useEffect(() => {
    const abort = new AbortController();
    getJobEvents(job, last.current, abort.signal).then(
      (news) => {
        if (abort.signal.aborted) return;
        last.current = news.at(-1)?.id ?? last.current;
        setHistory((old) => ({ events: news.length > 0 ? [...old.events, ...news] : old.events, error: "" }));
      },
      (error: unknown) => {
        if (abort.signal.aborted || error instanceof Unreachable) return;
        setHistory((old) => ({ ...old, error: explain(error) }));
      },
    );
    return () => abort.abort();
  }, [job, ...inputs]);
  return history;
}

// The end of one task's log, followed as it grows.
import { useMemo, useRef } from "preact/hooks";
import type { LogQuery } from "../api/client";
import { emptyLog, type LogParts } from "../model/log_text";
import { askForLog } from "../state/job_log";
import { useInterval } from "./use_interval";
import { useAnswer } from "./use_query";

const followMs = 1_000;
const finishedMs = 10_000;
/** The last bytes of an ended attempt may be late, but not later than this. */
const quietAnswers = 3;

export interface LogState {
  parts: LogParts;
  error: string;
  loading: boolean;
}

export function useLog(job: number, query: LogQuery, growing: boolean, following: boolean): LogState {
  const key = `log ${job} ${query.attempt} ${query.rank} ${query.stream}`;
  const followed = useRef(following);
  followed.current = following;
  const ask = useMemo(() => askForLog(job, query, () => followed.current), [key]);
  const quiet = useRef(0);
  const pause = growing ? followMs : quiet.current < quietAnswers ? finishedMs : null;
  const { data, error } = useAnswer(key, ask, [useInterval(pause)]);
  quiet.current = data?.quiet ?? 0;
  return { parts: data?.parts ?? emptyLog, error, loading: data === null && error === "" };
}

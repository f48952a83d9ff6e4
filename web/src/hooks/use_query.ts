// Reads an answer of state/queries.ts while a component is mounted.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { explain, Problem } from "../api/problem";
import type { Ask, Reading } from "../state/queries";
import { queries } from "../state/store";

export interface Shown<T> {
  data: T | null;
  /** For the reader; "" if nothing is wrong. With `data`, that is from before the failure. */
  error: string;
  notFound: boolean;
  /** `data` is known to be out of date. */
  stale: boolean;
  /** When `data` was asked for. */
  at: number;
  /** Asks again at once. */
  retry(): void;
}

const nothing: Shown<never> = {
  data: null,
  error: "",
  notFound: false,
  stale: false,
  at: 0,
  retry: () => undefined,
};

/** `key` names what is read: a new key drops the old data at once. A change of `inputs` only fetches it again. */
export const useQuery = <T>(
  key: string,
  fetch: (signal: AbortSignal) => Promise<T>,
  inputs: unknown[] = [],
) => useAnswer<T>(key, ({ signal }) => fetch(signal), inputs);

/** For a reading that continues from its last answer, or arrives in parts. */
export const useAnswer = <T>(key: string, ask: Ask<T>, inputs: unknown[] = [], kept = false): Shown<T> =>
  shownOf(useRefreshed(key, ask, inputs, kept));

export function shownOf<T>(reading: Reading<T> | null): Shown<T> {
  if (!reading) return nothing;
  const { data, error, stale, at } = reading.answer.value;
  const notFound = error instanceof Problem && error.status === 404;
  const text = error === null ? "" : explain(error);
  return { data, error: text, notFound, stale, at, retry: reading.retry };
}

function useRefreshed<T>(key: string, ask: Ask<T>, inputs: unknown[], kept: boolean): Reading<T> | null {
  const reading = useReading(key, ask, kept);
  const asked = useRef<Reading<T> | null>(null);
  useEffect(() => {
    if (asked.current === reading) reading?.refresh();
    asked.current = reading;
  }, [reading, ...inputs]);
  return reading;
}

/** Null during the first rendering with a key. */
export function useReading<T>(key: string, ask: Ask<T>, kept = false): Reading<T> | null {
  const latest = useRef(ask);
  latest.current = ask;
  const [state, setState] = useState<{ key: string; reading: Reading<T> } | null>(null);
  useLayoutEffect(() => {
    const reading = queries.read<T>(key, (asking) => latest.current(asking), { kept });
    setState({ key, reading });
    return () => reading.release();
  }, [key]);
  return state?.key === key ? state.reading : null;
}

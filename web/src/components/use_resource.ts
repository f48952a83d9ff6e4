// Fetches something when its inputs change, keeps the old answer on show meanwhile, and drops answers that come late.
import { useEffect, useState } from "preact/hooks";
import { explain, Problem, Unreachable } from "../api/problem";

export interface Resource<T> {
  data: T | null;
  /** For a person; "" while all is well. An unreachable coordinator is not repeated here: the banner says it. */
  error: string;
  notFound: boolean;
}

/** `identity` names the thing: when it changes, old data goes at once. `inputs` only ask for a fresh copy. */
export function useResource<T>(
  fetch: (signal: AbortSignal) => Promise<T>,
  identity: string,
  inputs: unknown[],
): Resource<T> {
  const [state, setState] = useState<Resource<T> & { identity: string }>({
    identity,
    data: null,
    error: "",
    notFound: false,
  });
  useEffect(() => {
    const abort = new AbortController();
    fetch(abort.signal).then(
      (data) => abort.signal.aborted || setState({ identity, data, error: "", notFound: false }),
      (error: unknown) => {
        if (abort.signal.aborted || error instanceof Unreachable) return;
        const notFound = error instanceof Problem && error.status === 404;
        setState((old) => ({
          identity,
          data: old.identity === identity ? old.data : null,
          error: explain(error),
          notFound,
        }));
      },
    );
    return () => abort.abort();
  }, [identity, ...inputs]);
  return state.identity === identity ? state : { data: null, error: "", notFound: false };
}

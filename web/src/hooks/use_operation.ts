// Asks the coordinator for a change and keeps the reason if it refuses.
import { useState } from "preact/hooks";
import { explain } from "../api/problem";
import { withToken } from "../state/token";

export interface Operation {
  busy: boolean;
  /** Why the coordinator refused; "" if nothing is wrong. */
  problem: string;
  /** True if it was done; false if it was refused or the reader gave no token. */
  run<T>(action: (token: string) => Promise<T>, done: (answer: T) => void): Promise<boolean>;
  forget(): void;
}

export function useOperation(): Operation {
  const [state, setState] = useState({ busy: false, problem: "" });
  return {
    ...state,
    async run(action, done) {
      setState({ busy: true, problem: "" });
      try {
        const answer = await withToken(action);
        setState({ busy: false, problem: "" });
        if (answer === undefined) return false;
        done(answer);
        return true;
      } catch (error) {
        setState({ busy: false, problem: explain(error) });
        return false;
      }
    },
    forget: () => setState((old) => ({ ...old, problem: "" })),
  };
}

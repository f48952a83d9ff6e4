// Asks the coordinator to change something and keeps what it said when it would not.
import { useState } from "preact/hooks";
import { explain } from "../api/problem";
import { withToken } from "../state/token";

export interface Operation {
  busy: boolean;
  /** Why it was refused; "" while all is well. */
  problem: string;
  /** True when it was done; false when it was refused or the person gave no token. */
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

// The user token. It is asked for once, when something first needs it, and kept for this tab or, if the person says so,
// on this device. A token that the coordinator refuses is forgotten.
import { signal } from "@preact/signals";
import { Problem } from "../api/problem";

const storageKey = "podium.token";

export interface TokenRequest {
  /** Why the last one did not do; "" the first time. */
  complaint: string;
  answer(token: string | null, keep: boolean): void;
}

export const tokenRequest = signal<TokenRequest | null>(null);

const storedToken = () => sessionStorage.getItem(storageKey) ?? localStorage.getItem(storageKey);

export function forgetToken(): void {
  sessionStorage.removeItem(storageKey);
  localStorage.removeItem(storageKey);
}

function ask(complaint: string): Promise<string | null> {
  return new Promise((resolve) => {
    const answer = (token: string | null, keep: boolean) => {
      tokenRequest.value = null;
      if (token !== null) (keep ? localStorage : sessionStorage).setItem(storageKey, token);
      resolve(token);
    };
    tokenRequest.value = { complaint, answer };
  });
}

/** Runs `action` with a token, asking again while it is refused. Undefined: the person gave up. */
export async function withToken<T>(action: (token: string) => Promise<T>): Promise<T | undefined> {
  let token = storedToken() ?? (await ask(""));
  while (token !== null) {
    try {
      return await action(token);
    } catch (error) {
      if (!(error instanceof Problem) || (error.status !== 401 && error.status !== 403)) throw error;
      forgetToken();
      token = await ask(
        error.status === 403
          ? "That is the agents' token; the user token is needed."
          : "That token was not accepted.",
      );
    }
  }
  return undefined;
}

// Asks for the user token once, when something first needs it. A token that the coordinator refuses is forgotten.
import { computed, signal } from "@preact/signals";
import { getHealth } from "../api/client";
import { Problem } from "../api/problem";
import { forgetToken, storedToken, storeToken } from "../api/token_store";
import type { TokenOwner } from "../api/types";

export interface TokenRequest {
  /** Why it is needed, or why the last one did not do. */
  why: string;
  refused: boolean;
  answer(token: string | null, keep: boolean): void;
}

export const tokenRequest = signal<TokenRequest | null>(null);

/** As the coordinator last said. */
export const tokenOwner = signal<TokenOwner>("nobody");
/** An agents' token reads, and nothing else: what would be refused is not offered. */
export const mayChange = computed(() => tokenOwner.value !== "agent");

const changing = "Changing anything needs the coordinator's user token.";
const reading = "This coordinator shows its jobs only to those who have its user token.";
const wrong = "That token was not accepted.";

let givenAt = -Infinity;
/** By performance.now(). What was asked for before went without the token that there is now. */
export const tokenGivenAt = () => givenAt;

let asking: Promise<string | null> | null = null;

/** Whoever asks while the question is on show gets the same answer. */
function ask(why: string, refused = false): Promise<string | null> {
  asking ??= new Promise((resolve) => {
    const answer = (token: string | null, keep: boolean) => {
      tokenRequest.value = null;
      asking = null;
      givenAt = performance.now();
      if (token !== null) storeToken(token, keep);
      resolve(token);
    };
    tokenRequest.value = { why, refused, answer };
  });
  return asking;
}

/** Runs `action` with a token, asking again while it is refused. Undefined: the person gave up. */
export async function withToken<T>(action: (token: string) => Promise<T>): Promise<T | undefined> {
  let token = storedToken() ?? (await ask(changing));
  while (token !== null) {
    try {
      const done = await action(token);
      tokenOwner.value = "user";
      return done;
    } catch (error) {
      if (!(error instanceof Problem) || (error.status !== 401 && error.status !== 403)) throw error;
      // Another question may have been answered since this one was asked.
      if (storedToken() === token) forgetToken();
      token = storedToken() ?? (await ask(wrong, true));
    }
  }
  return undefined;
}

/** The coordinator would not let us read with the token we have, or without one. False: the person gave up. */
export async function askForReading(): Promise<boolean> {
  const refused = asking === null && storedToken() !== null;
  if (refused) forgetToken();
  return (await ask(refused ? wrong : reading, refused)) !== null;
}

/** For who reads with the agents' token and wants to change something. */
export async function enterUserToken(): Promise<void> {
  let token = await ask(changing);
  while (token !== null) {
    const owner = await ownerNow();
    if (owner === null) return;
    tokenOwner.value = owner;
    if (owner === "user") return;
    forgetToken();
    token = await ask(wrong, true);
  }
}

/** Null while the coordinator does not answer, which the banner says; the token is tried when it is used. */
async function ownerNow(): Promise<TokenOwner | null> {
  try {
    return (await getHealth()).token;
  } catch {
    return null;
  }
}

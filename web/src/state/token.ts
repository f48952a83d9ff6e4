// Asks once for the user token when it is first needed. A token that the coordinator refuses is forgotten.
import { computed, signal } from "@preact/signals";
import { getHealth } from "../api/client";
import { Problem } from "../api/problem";
import { forgetToken, storedToken, storeToken } from "../api/token_store";
import type { TokenOwner } from "../api/types";

export interface TokenRequest {
  /** Why the token is needed, or why the last one was refused. */
  why: string;
  refused: boolean;
  answer(token: string | null, keep: boolean): void;
}

export const tokenRequest = signal<TokenRequest | null>(null);

/** From the coordinator's last answer. */
export const tokenOwner = signal<TokenOwner>("nobody");
/** An agents' token only reads: changes that would be refused are not offered. */
export const mayChange = computed(() => tokenOwner.value !== "agent");

const changing = "You need the user token of the coordinator to make changes.";
const reading = "You need the user token of this coordinator to see its jobs.";
const wrong = "The coordinator did not accept that token.";

let givenAt = -Infinity;
/** By performance.now(). Earlier requests went without the current token. */
export const tokenGivenAt = () => givenAt;

let asking: Promise<string | null> | null = null;

/** All callers get the same answer while the question is shown. */
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

/** Runs `action` with a token and asks again while it is refused. Undefined: the reader gave up. */
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

/** The coordinator refused to let us read, with or without a token. False: the reader gave up. */
export async function askForReading(): Promise<boolean> {
  const refused = asking === null && storedToken() !== null;
  if (refused) forgetToken();
  return (await ask(refused ? wrong : reading, refused)) !== null;
}

/** For a reader with the agents' token who wants to change something. */
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

/** Null while the coordinator does not answer, as the banner says. The token is tried when it is used. */
async function ownerNow(): Promise<TokenOwner | null> {
  try {
    return (await getHealth()).token;
  } catch {
    return null;
  }
}

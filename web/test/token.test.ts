// All who need the token at the same time share one question.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Problem } from "../src/api/problem";
import { forgetToken, storedToken } from "../src/api/token_store";
import { askForReading, enterUserToken, tokenOwner, tokenRequest, withToken } from "../src/state/token";
import { Wire } from "./wire";

let wire: Wire;

beforeEach(() => {
  vi.useFakeTimers();
  wire = new Wire();
});

afterEach(() => {
  tokenRequest.value?.answer(null, false);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const settle = async () => void (await vi.advanceTimersByTimeAsync(0));
const refuseAllBut = (good: string) => async (token: string) => {
  if (token !== good) throw new Problem(401, {});
  return "done";
};

it("two that ask at once share one question, and both go on", async () => {
  const held = withToken(refuseAllBut("good"));
  const reading = askForReading();
  await settle();
  tokenRequest.value!.answer("good", false);
  expect(await held).toBe("done");
  expect(await reading).toBe(true);
  expect(tokenRequest.value).toBeNull();
});

it("both give up when the person does", async () => {
  const held = withToken(refuseAllBut("good"));
  const reading = askForReading();
  await settle();
  tokenRequest.value!.answer(null, false);
  expect(await held).toBeUndefined();
  expect(await reading).toBe(false);
});

it("a token that was given meanwhile is not forgotten for the sake of the one before", async () => {
  sessionStorage.setItem("podium.token", "bad");
  let refuse: () => void = () => undefined;
  const slow = withToken(async (token) => {
    if (token === "bad") await new Promise<void>((resolve) => (refuse = resolve));
    return refuseAllBut("good")(token);
  });
  await settle();
  sessionStorage.setItem("podium.token", "good");
  refuse();
  expect(await slow).toBe("done");
  expect(storedToken()).toBe("good");
});

it("a coordinator that does not answer whose token it is fails nothing", async () => {
  wire.health = null;
  const entered = enterUserToken();
  await settle();
  tokenRequest.value!.answer("good", false);
  await expect(entered).resolves.toBeUndefined();
  wire.health = { live_id: 1, token: "user" };
  const again = enterUserToken();
  await settle();
  tokenRequest.value!.answer("good", false);
  await again;
  expect(tokenOwner.value).toBe("user");
});

it("a browser that refuses to store anything keeps the token for as long as the page", async () => {
  const refuse = () => {
    throw new DOMException("blocked", "SecurityError");
  };
  vi.stubGlobal("sessionStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });
  const held = withToken(refuseAllBut("good"));
  await settle();
  tokenRequest.value!.answer("good", true);
  expect(await held).toBe("done");
  expect(storedToken()).toBe("good");
  forgetToken();
  expect(storedToken()).toBeNull();
});

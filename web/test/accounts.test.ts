import { expect, it } from "vitest";
import type { Account, Queue, QueuedJob } from "../src/api/types";
import { isAccountName, linesOf, meterOf, readAccount, rowsOf, textOf } from "../src/model/account_tree";
import { formatFactors, linesOf as waitingLines, turnOf } from "../src/model/queue";

const account = (name: string, changes: Partial<Account> = {}): Account => ({
  account: name,
  share: 1,
  quota: {},
  limit: {},
  usage: {},
  ...changes,
});

it("is a tree: children follow their parent, also where a sibling's name sorts between them", () => {
  const accounts = ["nlp/bert", "nlp-x", "nlp", "nlp/bert/a", "default"].map((name) => account(name));
  const shown = (folded: string[]) =>
    rowsOf(accounts, new Set(folded)).map(
      ({ depth, name, hasChildren }) => `${depth}${name}${hasChildren ? "+" : ""}`,
    );
  expect(shown([])).toEqual(["0default", "0nlp+", "1bert+", "2a", "0nlp-x"]);
  expect(shown(["nlp"])).toEqual(["0default", "0nlp+", "0nlp-x"]);
});

it("sorts siblings, and never takes a child from its parent", () => {
  const shares = { a: 1, "a/x": 9, "a/y": 4, b: 3, "c/x": 8 };
  const accounts = Object.entries(shares).map(([name, share]) => account(name, { share }));
  const shown = (descending: boolean) =>
    rowsOf(accounts, new Set(), { valueOf: ({ share }) => share, descending }).map(
      ({ account: { account: name } }) => name,
    );
  expect(shown(false)).toEqual(["a", "a/y", "a/x", "b", "c/x"]);
  expect(shown(true), "what has no parent that is known comes last").toEqual(["b", "a", "a/x", "a/y", "c/x"]);
});

it("has a line for each kind of device, and one for an account without any", () => {
  const accounts = [account("a"), account("b", { quota: { gpu: 1 }, limit: { cpu: 2 } })];
  const lines = linesOf(rowsOf(accounts, new Set()));
  expect(lines.map(({ row, kind, leads }) => [row.name, kind, leads])).toEqual([
    ["a", "", true],
    ["b", "cpu", true],
    ["b", "gpu", false],
  ]);
});

const usage = { device_seconds: 0, factor: 0, waiting_jobs: 0, waiting_devices: 0 };

it("measures what is held against the limit, else against the cluster", () => {
  const held = { gpu: { ...usage, devices: 6, borrowed: 2 } };
  const limited = account("a", { usage: held, quota: { gpu: 4 }, limit: { gpu: 8 } });
  expect(meterOf(limited, "gpu", 16)).toEqual({
    kept: 0.25,
    borrowed: 0.125,
    quota: 0.25,
    limit: 0.5,
    isOver: false,
  });
  expect(meterOf(account("a", { usage: held }), "gpu", 24)).toEqual({
    kept: 4 / 24,
    borrowed: 2 / 24,
    quota: null,
    limit: null,
    isOver: false,
  });
  expect(meterOf(account("a", { usage: held, limit: { gpu: 5 } }), "gpu", 24).isOver).toBe(true);
  expect(meterOf(account("a", { usage: held }), "gpu", 0).borrowed).toBeCloseTo(1 / 3);
});

it("sends only what a person changed", () => {
  const before = account("nlp", { share: 2, quota: { gpu: 8 }, limit: { gpu: 16 } });
  const text = textOf(before, ["cpu", "gpu"]);
  const read = (changes: Partial<typeof text>) => readAccount(before, { ...text, ...changes });
  expect(read({})).toBeNull();
  expect(read({ share: "3" })).toEqual({ share: 3 });
  expect(read({ quota: { cpu: "4", gpu: "" } })).toEqual({ quota: { cpu: 4, gpu: null } });
  expect(read({ limit: { cpu: "", gpu: "0" }, quota: { cpu: "", gpu: "" } })).toEqual({
    limit: { gpu: 0 },
    quota: { gpu: null },
  });
  for (const share of ["0", "", "1.5", "1000001"]) expect(read({ share })).toMatch(/share is a whole number/);
  expect(read({ quota: { cpu: "-1", gpu: "8" } })).toMatch(/cpu quota/);
  expect(read({ quota: { cpu: "", gpu: "17" } })).toMatch(/can never be used with a limit of 16/);
});

it("knows names of accounts", () => {
  for (const good of ["nlp", "nlp/bert", "A.b_c-1"]) expect(isAccountName(good)).toBe(true);
  for (const bad of ["", "/", "a/", "/a", "a//b", "a b", "ä", "x".repeat(101)])
    expect(isAccountName(bad)).toBe(false);
});

it("says whose turn it is", () => {
  const job = (position: number, reserved_ms: number | null): QueuedJob => ({
    position,
    job: position,
    name: "",
    account: "nlp/bert",
    devices: 1,
    per_node: 0,
    walltime_seconds: 60,
    priority: 50,
    submitted_ms: 0,
    waited_seconds: 0,
    blocker: "devices",
    reason: "",
    age_points: 0,
    walltime_points: 0,
    score: 50,
    rank: 1,
    sizes: [],
    account_factors: [36_000, 5400],
    guaranteed_by: null,
    reserved_ms,
  });
  const jobs = [job(1, null), job(2, 7_500_000), job(3, null)];
  const queue = { queues: [{ kind: "gpu", total: 9, jobs }], apart: { total: 0, jobs: [] } };
  const [line] = waitingLines(queue as unknown as Queue);
  expect(line).toMatchObject({ id: "gpu", sentence: "9 jobs waiting for gpu devices", reservedFrom: 2 });
  expect(jobs.map((each) => turnOf(each, 2, 0))).toEqual(["in order", "by 2h 5m", "backfill"]);
  expect(turnOf(jobs[2]!, null, 0)).toBe("in order");
  expect(formatFactors(jobs[0]!)).toBe("10.0 › 1.5");
});

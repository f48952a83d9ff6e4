// The contents of a comparison, without a page.
import { describe, expect, it } from "vitest";
import type { ComparedField, ComparedOutcome, Comparison, Job } from "../src/api/types";
import { compareHash, compareSettings, targetId } from "../src/model/compare_address";
import { randomOf } from "./random";
import {
  apart,
  chartKeys,
  differenceText,
  fieldValues,
  marksOf,
  matchesPattern,
  moved,
  offersOf,
  outcomeRule,
  outcomeText,
  placed,
  tokensAStep,
  xOf,
} from "../src/model/comparison";

const field = (key: string, values: unknown[], differs = true): ComparedField => ({
  section: "spec",
  key,
  differs,
  values,
});

const outcome = (change: Partial<ComparedOutcome>): ComparedOutcome => ({
  measure: "best",
  metric: "eval/loss",
  better: "less",
  better_by: "name",
  values: [],
  steps: [],
  differences: [],
  best: [],
  ...change,
});

const comparison = (change: Partial<Comparison>): Comparison => ({
  base: 1,
  jobs: [],
  missing: [],
  sources: [],
  artificial: [],
  fields: [],
  differing: 0,
  same: 0,
  left_out: 0,
  currency: "",
  outcomes: [],
  metrics: [],
  ...change,
});

const job = (id: number, change: Partial<Job> = {}) =>
  ({ id, name: `job-${id}`, restarts: 0, started_ms: 1, ended_ms: 1, target: null, ...change }) as Job;

describe("the address", () => {
  it("names jobs once, in order, and only numbers", () => {
    const { jobs } = compareSettings(new URLSearchParams("jobs=15,12,x,15,-1,0,1.5,18"));
    expect(jobs).toEqual([15, 12, 18]);
    expect(compareHash(jobs)).toBe("#/compare?jobs=15,12,18");
  });

  it("takes no more than 50 jobs, and a base that is one of them", () => {
    const many = Array.from({ length: 60 }, (_, index) => index + 1).join(",");
    expect(compareSettings(new URLSearchParams(`jobs=${many}`)).jobs).toHaveLength(50);
    expect(compareSettings(new URLSearchParams("jobs=1,2&base=2")).base).toBe(2);
    expect(compareSettings(new URLSearchParams("jobs=1,2&base=3")).base).toBeNull();
  });

  it("falls back where a value is none", () => {
    const settings = compareSettings(new URLSearchParams("jobs=1&x=loss&y=cubic&smooth=7&hide=a"));
    expect(settings).toMatchObject({ axis: "step", logarithmic: false, smooth: 0 });
    expect([...settings.hidden]).toEqual([]);
  });

  it("hides jobs and the targets, and neither where it names none", () => {
    const hidden = (query: string) => [...compareSettings(new URLSearchParams(query)).hidden];
    expect(hidden("jobs=1,2&hide=0,2")).toEqual([targetId, 2]);
    expect(hidden("jobs=1,2&hide=")).toEqual([]);
  });
});

it("moves a job up and down, and not beyond an end", () => {
  expect(moved([1, 2, 3], 3, -1)).toEqual([1, 3, 2]);
  expect(moved([1, 2, 3], 1, 1)).toEqual([2, 1, 3]);
  expect(moved([1, 2, 3], 1, -1)).toEqual([1, 2, 3]);
});

it("parts texts at the end of a word", () => {
  expect(apart(["bert-large-s1", "bert-large-s2"])).toEqual({ common: "bert-large-", rests: ["s1", "s2"] });
  expect(apart(["bert-large", "bert-long"])).toEqual({ common: "bert-", rests: ["large", "long"] });
  expect(apart(["same", "same"])).toEqual({ common: "same", rests: ["", ""] });
  expect(apart(["alone"])).toEqual({ common: "", rests: ["alone"] });
  expect(apart(["bert", "gpt"])).toEqual({ common: "", rests: ["bert", "gpt"] });
});

it("matches a part of a name, or all of it by *", () => {
  expect(matchesPattern("loss", "eval/mlm_loss")).toBe(true);
  expect(matchesPattern("eval/*", "eval/mlm_loss")).toBe(true);
  expect(matchesPattern("eval/*", "train/eval/x")).toBe(false);
  expect(matchesPattern("*.loss", "eval_loss")).toBe(false);
  expect(matchesPattern("", "anything")).toBe(true);
});

it("matches every small pattern and name as * is defined, and takes no longer for many of them", () => {
  const isMatch = (pattern: string, name: string): boolean =>
    pattern === ""
      ? name === ""
      : pattern[0] === "*"
        ? isMatch(pattern.slice(1), name) || (name !== "" && isMatch(pattern, name.slice(1)))
        : name[0] === pattern[0] && isMatch(pattern.slice(1), name.slice(1));
  const random = randomOf(11);
  const word = (letters: string, most: number) =>
    Array.from({ length: random(most + 1) }, () => letters[random(letters.length)]).join("");
  for (let round = 0; round < 5_000; round += 1) {
    const [pattern, name] = [`*${word("ab**", 6)}`, word("ab", 9)];
    for (const one of [pattern, pattern.slice(1) + "*"])
      expect([one, name, matchesPattern(one, name)]).toEqual([one, name, isMatch(one, name)]);
  }
  expect(matchesPattern(`${"*".repeat(40)}x`, "a".repeat(200))).toBe(false);
});

it.each([
  [null, ""],
  [0, ""],
  [0.5, "+50 %"],
  [-0.031, "−3.1 %"],
  [0.0004, "+0.04 %"],
  [9, "+900 %"],
  [56.6, "×58"],
  [Number.NaN, ""],
])("tells a difference of %s as %s", (share, text) => expect(differenceText(share)).toBe(text));

describe("an outcome", () => {
  it("is told in its own unit", () => {
    expect(outcomeText(outcome({ measure: "time_to_train", metric: "" }), 3720)).toBe("1h 2m");
    expect(outcomeText(outcome({ measure: "device_time", metric: "" }), 7200)).toMatch(/^2(\.0+)?$/);
    expect(outcomeText(outcome({ measure: "restarts", metric: "" }), 3)).toBe("3");
    expect(outcomeText(outcome({ measure: "energy", metric: "" }), 7_200_000)).toBe("2 kWh");
    expect(outcomeText(outcome({ measure: "cost_to_target", metric: "" }), 8.5, "EUR")).toBe("8.50 EUR");
    expect(outcomeText(outcome({}), null)).toBe("–");
  });

  it("says why a value is the better one", () => {
    expect(outcomeRule(outcome({ better_by: "target", better: "more" }))).toContain("the target says so");
    expect(outcomeRule(outcome({}))).toContain("by its name");
    expect(outcomeRule(outcome({ better: null, better_by: null }))).toContain("Neither");
  });
});

it("leaves out of long values what all have in front, but not of short ones", () => {
  const long = fieldValues(field("data", ["/data/books/train.txt", "/data/books/held.txt"]));
  expect(long.map(({ own }) => own)).toEqual(["train.txt", "held.txt"]);
  expect(long[0]!.common).toBe("/data/books/");
  expect(fieldValues(field("a", ["bf-16", "bf-32"]))).toEqual([
    { common: "", own: "bf-16" },
    { common: "", own: "bf-32" },
  ]);
  expect(fieldValues(field("a", [[1, 2], null])).map(({ own }) => own)).toEqual(["[1,2]", "–"]);
});

it("marks figures that are not final, restarted, artificial or uncommitted", () => {
  const [clean, marked] = [job(1), job(2, { ended_ms: null, restarts: 2 })];
  const all = comparison({
    jobs: [clean, marked],
    sources: [null, { repository: "r", commit: "c", path: "p", dirty: true }],
    artificial: [2],
  });
  expect(marksOf(clean, all)).toEqual([]);
  expect(marksOf(marked, all)).toEqual([
    "so far",
    "restarted 2×",
    "artificial devices",
    "uncommitted changes",
  ]);
});

it("draws targets first, then evaluations, then training", () => {
  const target = {
    metric: "train/score",
    at_least: 1,
    latest: null,
    best: null,
    reached_ms: null,
    reached_step: null,
  };
  const all = comparison({
    jobs: [job(1, { target })],
    metrics: ["zeta", "train/b", "eval/b", "train/loss", "train/score", "eval/a"].map((key) => ({
      key,
      jobs: [1],
    })),
  });
  expect(chartKeys(all, "")).toEqual(["train/score", "eval/a", "eval/b", "train/loss", "train/b", "zeta"]);
  expect(chartKeys(all, "eval/*")).toEqual(["eval/a", "eval/b"]);
});

it("counts tokens where every job has a batch, a length and no phases", () => {
  const fields = [
    field("training.batch.global", [64, 128]),
    field("training.sequence_length", [128, 512], true),
  ];
  const jobs = [job(1), job(2)];
  expect(tokensAStep(comparison({ jobs, fields }))).toEqual(
    new Map([
      [1, 8192],
      [2, 65_536],
    ]),
  );
  expect(tokensAStep(comparison({ jobs, fields: fields.slice(1) }))).toBeNull();
  expect(
    tokensAStep(comparison({ jobs, fields: [...fields, field("training.phases", [[], null])] })),
  ).toBeNull();
});

it("places points by step, by tokens and by the time since the job's own start", () => {
  const point = { step: 10, timeMs: 5000, value: 1 };
  expect(xOf({ axis: "step", startMs: 1000, tokens: 7 }, point)).toBe(10);
  expect(xOf({ axis: "time", startMs: 1000, tokens: 7 }, point)).toBe(4);
  expect(xOf({ axis: "tokens", startMs: 1000, tokens: 7 }, point)).toBe(70);
  const again = [point, { step: 20, timeMs: 6000, value: 2 }, { step: 10, timeMs: 7000, value: 3 }];
  expect(placed(again, "step").map(({ value }) => value)).toEqual([3]);
  expect(placed(again, "time")).toHaveLength(3);
});

it("offers the newest jobs of names that several have", () => {
  const names = ["a", "b", "a", "c", "a", "b"];
  const jobs = names.map((name, index) => job(index + 1, { name }));
  expect(offersOf(jobs)).toEqual([
    { name: "b", jobs: [2, 6] },
    { name: "a", jobs: [1, 3, 5] },
  ]);
});

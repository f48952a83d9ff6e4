import { describe, expect, it } from "vitest";
import type { Comparison, StudyMember } from "../src/api/types";
import {
  gridOf,
  placeOn,
  ranked,
  resultsOf,
  shareOfBest,
  sweptAxes,
  usualResult,
  type Result,
} from "../src/model/sweep";

const member = (job: number, parameters: Record<string, unknown>): StudyMember => ({
  ...{ job, name: `t${job}`, state: "succeeded" as const, devices: 1, kind: "gpu", parameters },
  ...{ seed: null, restarts: 0, artificial: false, reason: "", time_to_train_seconds: null, trial: null },
});

const outcome = (metric: string, values: (number | string | null)[], better: "less" | "more" | null) => ({
  ...{ measure: "best" as const, metric, better, better_by: better && ("name" as const), values },
  ...{ steps: [], differences: [], best: [] },
});

const part = (jobs: number[], ...outcomes: ReturnType<typeof outcome>[]) =>
  ({ jobs: jobs.map((id) => ({ id })), outcomes }) as unknown as Comparison;

const result = (values: [number, number][], better: "less" | "more" | null): Result => ({
  name: "r",
  outcome: outcome("r", [], better) as Result["outcome"],
  values: new Map(values),
});

it("results of all parts are put together by name; what is not finite is none", () => {
  const parts = [
    part([1, 2], outcome("eval/loss", [0.5, "NaN"], "less")),
    part([3], outcome("eval/f1", [0.9], "more"), outcome("eval/loss", [0.4], "less")),
  ];
  const [loss, f1] = resultsOf(parts);
  expect(loss!.name).toBe("eval/loss best");
  expect([...loss!.values]).toEqual([
    [1, 0.5],
    [3, 0.4],
  ]);
  expect([...f1!.values]).toEqual([[3, 0.9]]);
});

it("the usual result is one of which somebody says what is better", () => {
  expect(usualResult([result([], null), { ...result([], "more"), name: "f1" }])!.name).toBe("f1");
  expect(usualResult([result([], null)])!.name).toBe("r");
  expect(usualResult([])).toBeUndefined();
});

describe("trials", () => {
  const members = [member(1, {}), member(2, {}), member(3, {})];
  const order = (of: Result) => ranked(members, of).map(({ member: { job }, rank }) => [job, rank]);

  it("are ranked by what is better, those without a result last", () => {
    const values: [number, number][] = [
      [1, 0.7],
      [3, 0.9],
    ];
    expect(order(result(values, "more"))).toEqual([
      [3, 1],
      [1, 2],
      [2, null],
    ]);
    expect(order(result(values, "less"))[0]).toEqual([1, 1]);
  });

  it("have no rank where nobody says which is better", () => {
    expect(order(result([[2, 5]], null)).every(([, rank]) => rank === null)).toBe(true);
    expect(ranked(members, undefined).map(({ value }) => value)).toEqual([null, null, null]);
  });

  it("lie between the worst and the best", () => {
    const trials = ranked(
      members,
      result(
        [
          [1, 2],
          [2, 3],
          [3, 4],
        ],
        "less",
      ),
    );
    expect([2, 3, 4].map((value) => shareOfBest(value, trials))).toEqual([1, 0.5, 0]);
  });
});

describe("parameters", () => {
  const members = [
    member(1, { lr: 1e-2, kind: "b", same: 1 }),
    member(2, { lr: 1e-4, kind: "a", same: 1 }),
    member(3, { lr: 1e-3, kind: "b", same: 1 }),
  ];
  const axes = sweptAxes({ members });

  it("that change have an axis: numbers in order, logarithmic over a factor of ten; words by place", () => {
    expect(axes).toEqual([
      { path: "lr", values: [1e-4, 1e-3, 1e-2], numeric: true, logarithmic: true },
      { path: "kind", values: ["b", "a"], numeric: false, logarithmic: false },
    ]);
    expect(members.map((each) => placeOn(axes[1]!, each))).toEqual([0, 1, 0]);
    expect(placeOn(axes[0]!, member(9, {}))).toBeNull();
  });

  it("of zero or less are not logarithmic", () => {
    expect(sweptAxes({ members: [member(1, { x: 0 }), member(2, { x: 100 })] })[0]!.logarithmic).toBe(false);
  });

  it("of two make a grid, with the mean of what is there", () => {
    const more = [...members, member(4, { lr: 1e-2, kind: "b" })];
    const trials = ranked(
      more,
      result(
        [
          [1, 2],
          [2, 5],
          [4, 4],
        ],
        "less",
      ),
    );
    const grid = gridOf([axes[0]!, axes[1]!], trials);
    expect(grid).toEqual([
      [null, { value: 5, jobs: [2] }],
      [null, null],
      [{ value: 3, jobs: [1, 4] }, null],
    ]);
  });
});

import { describe, expect, it } from "vitest";
import type { StudyMember } from "../src/api/types";
import { parallelOf } from "../src/model/parallel";
import { ranked, sweptAxes, type Result } from "../src/model/sweep";

const member = (job: number, parameters: Record<string, unknown>): StudyMember => ({
  ...{ job, name: `t${job}`, state: "succeeded" as const, devices: 1, kind: "gpu", parameters },
  ...{ seed: null, restarts: 0, artificial: false, reason: "", time_to_train_seconds: null, trial: null },
});

const members = [
  member(1, { "optimizer.lr": 0.001, batch: 32, precision: "bf16" }),
  member(2, { "optimizer.lr": 0.01, batch: 64, precision: "fp16" }),
  member(3, { "optimizer.lr": 0.1, batch: 96, precision: "bf16" }),
  member(4, { "optimizer.lr": 0.1, batch: 32, precision: "fp16" }),
];
const axes = sweptAxes({ members });

function parallel(values: [number, number][], better: "less" | "more" | null) {
  const outcome = { measure: "best", metric: "loss", better } as Result["outcome"];
  const result = { name: "loss best", outcome, values: new Map(values) };
  return parallelOf(axes, ranked(members, result), result);
}

describe("parallel coordinates", () => {
  const values: [number, number][] = [
    [1, 2],
    [2, 3],
    [3, 6],
  ];

  it("have an axis a swept value, logarithmic where it spans ten times, and one for the result", () => {
    const { axes: drawn, lines } = parallel(values, "less");
    expect(drawn.map(({ title }) => title)).toEqual(["lr", "batch", "precision", "loss best"]);
    const placeOf = (job: number) => lines.find(({ trial }) => trial.member.job === job)!.at;
    expect(placeOf(1).slice(0, 3)).toEqual([0, 0, 0]);
    expect(placeOf(2)[0]).toBeCloseTo(0.5, 9);
    expect(placeOf(2).slice(1, 3)).toEqual([0.5, 1]);
    expect(placeOf(3).slice(0, 3)).toEqual([1, 1, 0]);
  });

  it("have the better end of the result at its head, whichever that is", () => {
    const heads = (["less", "more", null] as const).map((better) => {
      const { lines } = parallel(values, better);
      return [1, 2, 3].map((job) => lines.find(({ trial }) => trial.member.job === job)!.at.at(-1));
    });
    expect(heads).toEqual([
      [1, 0.75, 0],
      [0, 0.25, 1],
      [0, 0.25, 1],
    ]);
  });

  it("draw the best last, leave out what has no result, and tell each in words", () => {
    const { lines, without } = parallel(values, "less");
    expect(lines.map(({ trial }) => trial.member.job)).toEqual([3, 2, 1]);
    expect(without).toBe(1);
    expect(lines.at(-1)!.text).toBe("lr 0.001, batch 32, precision bf16: loss best 2.000");
    expect(lines.map(({ share }) => share)).toEqual([0, 0.75, 1]);
    expect(parallel(values, null).lines.map(({ share }) => share)).toEqual([null, null, null]);
  });

  it("of one result stand in the middle, and of none there is no line", () => {
    expect(parallel([[2, 7]], "less").lines.map(({ at }) => at.at(-1))).toEqual([0.5]);
    expect(parallel([], "less").lines).toEqual([]);
  });

  it("have ticks that can be told apart, the ends among them", () => {
    const many = Array.from({ length: 40 }, (_, index) =>
      member(index + 1, { lr: 10 ** -(index / 10), seed: index }),
    );
    const result = { name: "r", outcome: { better: "less" } as Result["outcome"], values: new Map([[1, 1]]) };
    for (const { ticks } of parallelOf(sweptAxes({ members: many }), ranked(many, result), result).axes) {
      const places = ticks.map(({ at }) => at);
      for (const [index, at] of places.slice(1).entries()) expect(at - places[index]!).toBeGreaterThan(0.06);
      if (ticks.length > 1) expect([places[0], places.at(-1)]).toEqual([0, 1]);
    }
  });
});

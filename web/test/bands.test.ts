import { describe, expect, it } from "vitest";
import type { ComparedField, Comparison } from "../src/api/types";
import { bandOf, differenceTo, groupingFrom, groupings, groupsOf, valueOn } from "../src/model/bands";
import { randomOf } from "./random";

const field = (section: ComparedField["section"], key: string, values: unknown[]): ComparedField => ({
  ...{ section, key, values, differs: new Set(values).size > 1 },
});

const comparison = (count: number, ...fields: ComparedField[]) =>
  ({
    jobs: Array.from({ length: count }, (_, index) => ({ id: index + 1 })),
    fields,
  }) as unknown as Comparison;

const some = comparison(
  4,
  field("spec", "training.optimizer.lr", [0.1, 0.2, 0.1, 0.2]),
  field("spec", "training.seed", [1, 2, 3, 4]),
  field("spec", "training.task", ["a", "a", "a", "a"]),
  field("labels", "team", ["nlp", "nlp", null, "nlp"]),
  field("hardware", "nodes", ["n1", "n2", "n1", "n2"]),
);

describe("grouping", () => {
  it("is by settings and labels of few values, not by what each job has for itself", () => {
    expect(groupings(some)).toEqual(["training.optimizer.lr", "label team"]);
    expect(groupsOf(some, "training.optimizer.lr")).toEqual([
      { label: "lr 0.1", jobs: [1, 3] },
      { label: "lr 0.2", jobs: [2, 4] },
    ]);
    expect(groupsOf(some, "label team")[1]).toEqual({ label: "team –", jobs: [3] });
    expect(groupsOf(some, "all")).toEqual([{ label: "all jobs", jobs: [1, 2, 3, 4] }]);
  });

  it("is the reader's; of more than twelve jobs there is one at first", () => {
    const lr = field(
      "spec",
      "lr",
      Array.from({ length: 13 }, (_, index) => index % 2),
    );
    expect(groupingFrom(null, some)).toBeNull();
    expect(groupingFrom("label team", some)).toBe("label team");
    expect(groupingFrom("gone", some)).toBeNull();
    expect(groupingFrom(null, comparison(13, lr))).toBe("lr");
    expect(groupingFrom(null, comparison(13))).toBe("all");
    expect(groupingFrom("each", comparison(13, lr))).toBeNull();
  });
});

it("a value between two points is on the line between them, and there is none outside", () => {
  const curve = { xs: [0, 10, 20], ys: [0, 5, NaN] };
  expect([0, 4, 10, -1, 21, 15].map((x) => valueOn(curve, x))).toEqual([0, 2, 5, null, null, null]);
  expect(valueOn({ xs: [3], ys: [7] }, 3)).toBe(7);
  expect(valueOn({ xs: [], ys: [] }, 3)).toBeNull();
});

it("a difference is at equal x", () => {
  const base = { xs: [0, 10], ys: [0, 10] };
  expect(differenceTo(base, { xs: [5, 10, 20], ys: [6, 9, 1] })).toEqual({
    xs: [5, 10, 20],
    ys: [1, -1, NaN],
  });
  expect(differenceTo(base, base).ys).toEqual([0, 0]);
});

describe("a band", () => {
  it("of curves with points at the same places is their mean, least and largest", () => {
    const next = randomOf(11);
    const xs = Array.from({ length: 50 }, (_, index) => index * 10);
    const curves = Array.from({ length: 6 }, () => ({ xs, ys: xs.map(() => next(1000)) }));
    const band = bandOf(curves);
    expect(band.xs).toHaveLength(50);
    xs.forEach((_, index) => {
      const there = curves.map(({ ys }) => ys[index]!);
      expect(band.ys[index]).toBeCloseTo(there.reduce((sum, y) => sum + y, 0) / 6, 9);
      expect([band.lows[index], band.highs[index]]).toEqual([Math.min(...there), Math.max(...there)]);
    });
  });

  it("takes what lies between the points of a curve that has fewer, and nothing after its end", () => {
    const many = { xs: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], ys: Array.from({ length: 10 }, () => 0) };
    const few = { xs: [0, 4], ys: [10, 10] };
    const band = bandOf([many, few]);
    expect(band.ys.slice(0, 4)).toEqual([5, 5, 5, 5]);
    expect(band.ys.at(-1)).toBe(0);
  });

  it("passes over what is not finite, and is empty of nothing", () => {
    expect(bandOf([{ xs: [0, 1], ys: [NaN, 4] }]).ys).toEqual([4]);
    expect(bandOf([])).toEqual({ xs: [], ys: [], lows: [], highs: [] });
  });
});

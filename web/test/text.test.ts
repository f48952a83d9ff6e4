// Numbers, times, logs, YAML and spec problems: small functions that only make text.
import { describe, expect, it } from "vitest";
import { appendLog, mostCharacters, wholeLines } from "../src/model/log_text";
import { formatBytes, formatNumber, formatPlain } from "../src/model/numbers";
import { readProblems } from "../src/model/spec_problems";
import { formatAge, formatDuration } from "../src/model/times";
import { toYaml } from "../src/model/yaml";

describe("numbers", () => {
  it("keep four digits, readable at every size", () => {
    const texts = [4.93, 0.00038, 1.5e-7, 31_404, 1.2e12, -0.5, 0, NaN, -Infinity].map((value) =>
      formatNumber(value),
    );
    expect(texts).toEqual(["4.930", "0.00038", "1.50e−7", "31,404", "1.20e12", "−0.500", "0", "NaN", "−∞"]);
  });

  it("drop the zeros where nothing moves", () => {
    expect([8, 0.4, 1200, 2.5].map((value) => formatPlain(value))).toEqual(["8", "0.4", "1,200", "2.5"]);
  });

  it("count bytes in powers of two", () => {
    expect([512, 85_899_345_920].map(formatBytes)).toEqual(["512 B", "80.0 GiB"]);
  });
});

describe("times", () => {
  it("name the two largest units of a duration", () => {
    expect([0.25, 4, 59.6, 90, 3600, 7500, 200_000].map(formatDuration)).toEqual([
      "0.25s",
      "4s",
      "1m",
      "1m 30s",
      "1h",
      "2h 5m",
      "2d 7h",
    ]);
  });

  it("name one unit of an age", () => {
    expect([500, 45_000, 3_700_000, -5000].map((ms) => formatAge(0, ms))).toEqual([
      "now",
      "45s ago",
      "1h ago",
      "now",
    ]);
  });
});

describe("log", () => {
  it("is cut at its head, at a line, and loses terminal colours", () => {
    const line = `${"x".repeat(99)}\n`;
    const text = appendLog(line.repeat(mostCharacters / 100), "\u001b[32mgreen\u001b[0m\n");
    expect(text.length).toBeLessThanOrEqual(mostCharacters);
    expect(text.startsWith("x".repeat(99))).toBe(true);
    expect(text.endsWith("\ngreen\n")).toBe(true);
  });

  it("drops the half line that a tail by bytes begins with", () => {
    expect(wholeLines("lf\nwhole\n", false)).toBe("whole\n");
    expect(wholeLines("first\n", true)).toBe("first\n");
  });
});

it("YAML is nested, quotes what would be read as something else, and keeps short lists on a line", () => {
  const text = toYaml({
    name: "a b",
    on: "yes",
    lr: 0.001,
    empty: {},
    list: [1, "x: y"],
    deep: { items: [{ a: null, b: 2 }] },
  });
  expect(text).toBe(
    'name: a b\n"on": "yes"\nlr: 0.001\nempty: {}\nlist: [1, "x: y"]\ndeep:\n  items:\n    - a: null\n      b: 2\n',
  );
});

it("problems are brought to their line and column where they have one", () => {
  expect(
    readProblems([
      { message: "a", where: "spec.yaml:4:7" },
      { message: "b", where: "spec.yaml:9" },
      { message: "c" },
    ]),
  ).toEqual([
    { message: "a", line: 4, column: 7 },
    { message: "b", line: 9, column: null },
    { message: "c", line: null, column: null },
  ]);
});

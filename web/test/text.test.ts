// Numbers, times, logs, YAML and spec problems: small functions that only make text.
import { describe, expect, it } from "vitest";
import { LogText, mostCharacters, wholeLines } from "../src/model/log_text";
import { formatBytes, formatNumber, formatPlain } from "../src/format/numbers";
import { formatAge, formatDuration } from "../src/format/times";
import { readProblems } from "../src/model/spec_problems";
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
  const bytes = (text: string) => new TextEncoder().encode(text);
  const shown = (...chunks: (string | Uint8Array)[]) => {
    const log = new LogText();
    for (const chunk of chunks) log.append(typeof chunk === "string" ? bytes(chunk) : chunk);
    return textOf(log);
  };
  const textOf = ({ parts }: LogText) => parts.texts.join("");

  it("is cut at its head, at a line, only when it is told to", () => {
    const log = new LogText();
    log.append(bytes(`${"x".repeat(99)}\n`.repeat(mostCharacters / 100)));
    log.append(bytes("\u001b[32mgreen\u001b[0m\n"));
    expect(textOf(log).length).toBeGreaterThan(mostCharacters);
    log.trim();
    expect(textOf(log).length).toBeLessThanOrEqual(mostCharacters);
    expect(textOf(log).startsWith("x".repeat(99))).toBe(true);
    expect(textOf(log).endsWith("\ngreen\n")).toBe(true);
  });

  it("is shown in parts of which only the last changes, and that keep their numbers when the head is cut off", () => {
    const log = new LogText();
    const line = `${"x".repeat(99)}\n`;
    log.append(bytes(line.repeat(4000)));
    const before = log.parts;
    log.append(bytes(line.repeat(200)));
    log.trim();
    const after = log.parts;
    expect(before.texts.length).toBeGreaterThan(20);
    expect(after.first).toBeGreaterThan(0);
    for (let number = after.first; number < before.texts.length - 1; number += 1)
      expect(after.texts[number - after.first]).toBe(before.texts[number]);
  });

  it("drops the half line that a tail by bytes begins with", () => {
    expect(new TextDecoder().decode(wholeLines(bytes("lf\nwhole\n"), false))).toBe("whole\n");
    expect(new TextDecoder().decode(wholeLines(bytes("first\n"), true))).toBe("first\n");
  });

  it("has a progress bar once, as it is now, and Windows' line ends as line ends", () => {
    expect(shown("10%\r", "20%\r100%\nnext\r\nlast")).toBe("100%\nnext\nlast");
    expect(shown("next\r", "\nlast")).toBe("next\nlast");
    expect(shown("loading\rok")).toBe("okading");
  });

  it("puts together a character that was cut between two chunks", () => {
    const text = bytes("größe\n");
    expect(shown(text.subarray(0, 3), text.subarray(3))).toBe("größe\n");
  });

  it("loses colours, titles and links, also where they were cut between two chunks", () => {
    expect(shown("\u001b[3", "1;1mred\u001b", "[0m")).toBe("red");
    expect(shown("\u001b]0;title", "\u0007a\u001b]8;;http://x\u001b\\b\u001b]8;;\u001b\\")).toBe("ab");
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
      { message: "c", where: "" },
    ]),
  ).toEqual([
    { message: "a", line: 4, column: 7 },
    { message: "b", line: 9, column: null },
    { message: "c", line: null, column: null },
  ]);
});

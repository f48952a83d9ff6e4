import { describe, expect, it } from "vitest";
import { EventParser } from "../src/api/sse";

const one = (chunk: string) => new EventParser().push(chunk);

describe("EventParser", () => {
  it("reads an event with id, name and data", () => {
    expect(one("id: 7\nevent: job\ndata: {}\n\n")).toEqual([{ id: "7", event: "job", data: "{}" }]);
  });

  it("finds the same events however the bytes are cut", () => {
    const text =
      'id: 1\nevent: job\ndata: {"a":1}\n\n: comment\n\nid: 2\r\nevent: node\r\ndata: x\r\ndata: y\r\n\r\n';
    const whole = one(text);
    expect(whole).toHaveLength(2);
    for (let cut = 1; cut < text.length; cut += 1) {
      const parser = new EventParser();
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))], `cut at ${cut}`).toEqual(
        whole,
      );
    }
  });

  it("joins data lines and keeps the id for events without one", () => {
    expect(one("id: 3\ndata: a\ndata: b\n\ndata: c\n\n")).toEqual([
      { id: "3", event: "message", data: "a\nb" },
      { id: "3", event: "message", data: "c" },
    ]);
  });

  it("delivers a reset, which has no data", () => {
    expect(one("id: 9\nevent: reset\n\n")).toEqual([{ id: "9", event: "reset", data: "" }]);
  });

  it("makes nothing of comments and of an event that is not finished", () => {
    expect(one(": alive\n\nevent: job\ndata: {}\n")).toEqual([]);
  });
});

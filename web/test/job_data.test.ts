// The curves and the log of one job, fetched and then extended.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { drawMs, JobSeries, pointsAsked } from "../src/state/job_series";
import { askForLog, type LogSoFar } from "../src/state/job_log";
import { mostCharacters } from "../src/model/log_text";
import { Queries } from "../src/state/queries";
import { Wire } from "./wire";

let wire: Wire;
let queries: Queries;

beforeEach(() => {
  vi.useFakeTimers();
  wire = new Wire();
  queries = new Queries({ onRefused: () => undefined });
  queries.go();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("curves", () => {
  const live = (...steps: number[]) =>
    steps.map((step) => ({ key: "loss", step, time_ms: step, value: step }));
  const wireSeries = (...steps: number[]) => ({
    series: [{ key: "loss", points: steps.map((step) => [step, step, step]), lost_points: 0 }],
  });
  const read = () => {
    const series = new JobSeries(7);
    const reading = queries.read("series 7", series.ask);
    const hear = (...steps: number[]) => series.hear(live(...steps), reading);
    return { hear, reading, steps: () => reading.answer.value.data?.get("loss")?.map(({ step }) => step) };
  };
  const answer = async (steps: number[]) => {
    await wire.requests.at(-1)!.answer({ metrics: [{ key: "loss" }] });
    await wire.requests.at(-1)!.answer(wireSeries(...steps));
  };

  it("have what came while they were fetched, once", async () => {
    const { hear, steps } = read();
    hear(20, 30);
    await answer([10, 20]);
    await vi.advanceTimersByTimeAsync(drawMs);
    hear(40);
    expect(steps()).toEqual([10, 20, 30, 40]);
  });

  it("tell which have points that the database cannot read", async () => {
    const series = new JobSeries(7);
    queries.read("series 7", series.ask);
    await wire.requests.at(-1)!.answer({ metrics: [{ key: "loss" }, { key: "gain" }] });
    const [loss] = wireSeries(1).series;
    await wire.requests.at(-1)!.answer({
      series: [
        { ...loss, lost_points: 4096 },
        { ...loss, key: "gain" },
      ],
    });
    expect(series.lost.value).toEqual(new Map([["loss", 4096]]));
  });

  it("grow once a second, at once after a pause, by all that came", async () => {
    const { hear, reading, steps } = read();
    await answer([0]);
    let draws = -1;
    const stop = reading.answer.subscribe(() => (draws += 1));
    for (let step = 1; step <= 40; step += 1) {
      hear(step);
      if (step === 1) expect(steps()).toEqual([0, 1]);
      await vi.advanceTimersByTimeAsync(100);
    }
    await vi.advanceTimersByTimeAsync(drawMs);
    stop();
    expect(steps()).toEqual(Array.from({ length: 41 }, (_, step) => step));
    expect(draws).toBe(5);
  });

  it("come after a request that was lost, with the points from then on and none kept for ever", async () => {
    const { hear, steps } = read();
    await wire.requests[0]!.fail();
    hear(10);
    await vi.advanceTimersByTimeAsync(2000);
    hear(30);
    await answer([10, 20]);
    expect(steps()).toEqual([10, 20, 30]);
  });

  it("are thinned again when they have grown to twice what was asked for", async () => {
    const { hear, steps } = read();
    await answer([0]);
    for (let step = 1; step <= 100_000; step += 10)
      hear(...Array.from({ length: 10 }, (_, index) => step + index));
    await vi.advanceTimersByTimeAsync(drawMs);
    expect(steps()!.length).toBeLessThanOrEqual(2 * pointsAsked);
    expect(steps()![0]).toBe(0);
    expect(steps()!.at(-1)).toBe(100_000);
  });
});

describe("log", () => {
  const query = { attempt: 1, rank: 0, stream: "stderr" as const };
  let following: boolean;

  beforeEach(() => {
    following = true;
  });

  /** The log grows by `more`. The first request is for its end, the others are for what is new. */
  const serve = (pieces: Uint8Array[]) => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      asked.push(path.split("&").at(-1)!);
      const piece = pieces.shift() ?? new Uint8Array();
      sent += piece.length;
      return new Response(piece as BodyInit, { headers: { "X-Podium-Next-Offset": String(sent) } });
    });
    let sent = 0;
    const reading = queries.read(
      "log",
      askForLog(7, query, () => following),
    );
    const next = async () => {
      reading.refresh();
      await vi.advanceTimersByTimeAsync(0);
    };
    return { asked, next, state: () => reading.answer.value.data! };
  };
  const bytes = (some: string) => new TextEncoder().encode(some);
  const text = ({ parts }: LogSoFar) => parts.texts.join("");

  it("goes on from where it ended, also in the middle of a character, and tells how long it has been quiet", async () => {
    const whole = bytes("größe\n");
    const log = serve([whole.subarray(0, 3), whole.subarray(3)]);
    await vi.advanceTimersByTimeAsync(0);
    await log.next();
    expect(text(log.state())).toBe("größe\n");
    expect(log.asked).toEqual(["tail=65536", "offset=3"]);
    await log.next();
    await log.next();
    expect(text(log.state())).toBe("größe\n");
    expect(log.state().quiet).toBe(2);
  });

  it("keeps the place of who reads further up: it is trimmed only while its end is followed", async () => {
    const lines = (word: string) => bytes(`${word}\n`.repeat(mostCharacters / word.length));
    const log = serve([bytes("first\n"), lines("second"), lines("third")]);
    await vi.advanceTimersByTimeAsync(0);
    following = false;
    await log.next();
    expect(text(log.state()).startsWith("first\n")).toBe(true);
    following = true;
    await log.next();
    expect(text(log.state()).startsWith("third\n")).toBe(true);
  });
});

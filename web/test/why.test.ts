import { describe, expect, it } from "vitest";
import type { StartForecast } from "../src/api/types";
import { basisOf, reasonBeside, settingsOf, startRange, untilStart } from "../src/model/why";

const hour = 3_600_000;

function start(changes: Partial<StartForecast> = {}): StartForecast {
  return {
    earliest_ms: hour,
    expected_ms: 2 * hour,
    latest_ms: 10 * hour,
    reserved_ms: null,
    not_before_ms: null,
    note: "",
    basis: { expected_share: 0.6, earliest_share: 0.2, ended_jobs: 0, jobs_with_pace: 0 },
    ...changes,
  };
}

describe("why a job waits", () => {
  it("tells once what it waits for, and beside it why it came to wait again", () => {
    const blockers = [
      { sentence: "needs 2 free gpu devices; 1 is free" },
      { sentence: "1 job goes before it" },
    ];
    const first = blockers[0]!.sentence;
    expect(reasonBeside(first, blockers)).toBe("");
    expect(reasonBeside(`node-3 was lost; ${first}`, blockers)).toBe("node-3 was lost");
    expect(reasonBeside("is held", blockers)).toBe("is held");
    expect(reasonBeside(first, [])).toBe(first);
    expect(reasonBeside("", blockers)).toBe("");
  });

  it("tells the time until its start", () => {
    expect(untilStart(2 * hour + 300_000, 0)).toBe("in 2h 5m");
    expect(untilStart(400, 0)).toBe("now");
    expect(untilStart(0, hour)).toBe("now");
    expect(untilStart(null, 0)).toBe("unknown");
  });

  it("tells how sure that is", () => {
    expect(startRange(start(), 0)).toBe("between 1h and 10h");
    expect(startRange(start({ earliest_ms: 0 }), 0)).toBe("between now and 10h");
    expect(startRange(start({ latest_ms: null }), 0)).toBe("1h at the earliest");
    expect(startRange(start({ earliest_ms: 10 * hour }), 0)).toBe("");
    expect(startRange(start({ earliest_ms: null }), 0)).toBe("");
  });

  it("tells what it rests on", () => {
    expect(basisOf(start())).toBe(
      "The expected start assumes that jobs take 60 % of their walltime, the default until ten jobs have run to their end. The latest assumes that every job takes all of it.",
    );
    const basis = { expected_share: 0.414, earliest_share: 0.1, ended_jobs: 120, jobs_with_pace: 2 };
    expect(basisOf(start({ basis }))).toBe(
      "The expected start assumes that jobs take 41 % of their walltime, the median of the last 120 jobs; 2 running jobs go on at their pace. The latest assumes that every job takes all of it.",
    );
  });

  it("writes changes as the spec has them", () => {
    const set = {
      "resources.devices": 4,
      "resources.walltime": "2h",
      "resources.nodes": { rack: "r1" },
      "resources.within": null,
    };
    expect(
      settingsOf({ change: "devices", set, expected_ms: 0, backfill: false, anew: true, sentence: "" }),
    ).toEqual([
      "resources.devices: 4",
      "resources.walltime: 2h",
      'resources.nodes: {"rack":"r1"}',
      "no resources.within",
    ]);
  });
});

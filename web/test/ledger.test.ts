import { describe, expect, it } from "vitest";
import type { JobLedger, LedgerKind, LedgerPiece, LedgerTable } from "../src/api/types";
import { formatShare } from "../src/format/numbers";
import {
  describeParts,
  lanesOf,
  ledgerKinds,
  ledgerSentence,
  partsOf,
  rowHref,
  rowName,
  sumOf,
  tableSentence,
} from "../src/model/ledger";
import { randomOf } from "./random";

const piece = (from: number, to: number, kind: LedgerKind, attempt = 1, devices = 2): LedgerPiece => ({
  ...{ from_ms: from, to_ms: to, kind, detail: "", attempt, devices },
  ...{ first_step: null, last_step: null, merged: 1 },
});

function ledger(pieces: LedgerPiece[], changes: Partial<JobLedger> = {}): JobLedger {
  const totals = pieces.map(({ kind, from_ms, to_ms, devices }) => ({
    ...{ kind, detail: "", times: 1, wall_ms: to_ms - from_ms, device_ms: (to_ms - from_ms) * devices },
    ...{ longest_ms: to_ms - from_ms, longest_from_ms: from_ms },
  }));
  const held = totals
    .filter(({ kind }) => kind !== "waiting")
    .reduce((sum, { device_ms }) => sum + device_ms, 0);
  return {
    ...{ job: 12, now_ms: 0, final: true, devices: 2, held_device_ms: held, goodput: 0.9, pieces, totals },
    ...{ energy: null, cost: null },
    ...changes,
  };
}

const minute = 60_000;
const trained = [
  piece(0, 10 * minute, "waiting", 0),
  piece(10 * minute, 11 * minute, "launching"),
  piece(11 * minute, 60 * minute, "stepping"),
  piece(60 * minute, 63 * minute, "lost"),
];

describe("parts", () => {
  it("are by kind in their order, of time or of devices, and lose nothing", () => {
    const next = randomOf(7);
    const integer = (low: number, high: number) => low + next(high - low + 1);
    for (let turn = 0; turn < 50; turn += 1) {
      let at = 0;
      const pieces = Array.from({ length: 40 }, () => {
        const from = at;
        at += 1 + integer(0, 1000);
        return piece(from, at, ledgerKinds[integer(0, ledgerKinds.length - 1)]!, 1, integer(1, 9));
      });
      const of = ledger(pieces);
      expect(sumOf(partsOf(of.totals, "wall"))).toBe(at);
      const devices = pieces.reduce((sum, { from_ms, to_ms, devices: n }) => sum + (to_ms - from_ms) * n, 0);
      expect(sumOf(partsOf(of.totals))).toBe(devices);
      const kinds = partsOf(of.totals).map(({ kind }) => ledgerKinds.indexOf(kind));
      expect(kinds).toEqual([...kinds].sort((a, b) => a - b));
    }
  });

  it("leave out waits where they are not asked for", () => {
    expect(partsOf(ledger(trained).totals, "devices", false).map(({ kind }) => kind)).not.toContain(
      "waiting",
    );
  });

  it("are told in words", () => {
    expect(
      describeParts([
        { kind: "stepping", ms: 995 },
        { kind: "lost", ms: 5 },
      ]),
    ).toBe("steps that count 100 %, steps taken again 0.5 %");
    expect([0, 0.004, 0.0999, 0.5].map(formatShare)).toEqual(["0 %", "0.4 %", "10 %", "50 %"]);
  });
});

describe("the sentence", () => {
  it("tells the whole, what counted and the largest loss", () => {
    expect(ledgerSentence(ledger(trained))).toBe(
      "1h 3m from its submission to its end; steps that count took 90 % of the device time that it held. Largest loss: 10m of waiting.",
    );
  });

  it("says what nobody knows, and that it is not over", () => {
    const of = ledger([piece(0, minute, "running")], { goodput: null, final: false });
    expect(ledgerSentence(of)).toBe(
      "1m since its submission; its program reports no steps, so what counted is not known.",
    );
  });

  it("of a job that never started is of its wait", () => {
    expect(ledgerSentence(ledger([piece(0, minute, "waiting", 0)]))).toBe(
      "Job 12 has held no devices; it waited 1m.",
    );
  });
});

describe("lanes", () => {
  it("are one an attempt on one axis, the waits first", () => {
    const lanes = lanesOf(ledger([...trained, piece(63 * minute, 100 * minute, "stepping", 2)]))!;
    expect(lanes.lanes.map(({ attempt }) => attempt)).toEqual([0, 1, 2]);
    expect(lanes.lanes[2]!.pieces[0]).toMatchObject({ left: 0.63, merged: 1 });
    expect(lanes.ticks[0]).toEqual({ left: 0, seconds: 0 });
  });

  it("merge what is thinner than a pixel, say how many, and keep the time", () => {
    const pieces = Array.from({ length: 5000 }, (_, index) =>
      piece(index * 10, index * 10 + 10, index % 4 === 0 ? "evaluating" : "stepping"),
    );
    const [lane] = lanesOf(ledger(pieces))!.lanes;
    expect(lane!.pieces.length).toBeLessThan(1700);
    expect(lane!.pieces.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1);
    expect(lane!.pieces.reduce((sum, { merged }) => sum + merged, 0)).toBe(5000);
    expect(lane!.pieces.find(({ merged }) => merged > 1)!.title).toMatch(/\d+ short pieces, mostly this/);
  });

  it("do not merge over a gap", () => {
    const pieces = [piece(0, 1, "stepping"), piece(5000, 5001, "stepping"), piece(5001, 10_000, "lost")];
    expect(lanesOf(ledger(pieces))!.lanes[0]!.pieces).toHaveLength(2 + 1);
  });
});

describe("the cluster's", () => {
  const row = (key: string, name = "") => ({
    key,
    name,
    jobs: 2,
    held_device_ms: 7_200_000,
    goodput: 0.5,
    totals: [],
  });
  const table = (by: LedgerTable["by"], changes = {}): LedgerTable => ({
    ...{ by, now_ms: 0, count: 1, rows: [], all: { ...row(""), ...changes } },
  });

  it("rows lead to what they are of", () => {
    expect(rowHref("job", row("7"))).toBe("#/jobs/7?tab=ledger");
    expect(rowHref("account", row("nlp/bert"))).toBe("#/jobs?q=account:nlp/bert");
    expect([rowHref("day", row("2026-03-01")), rowHref("node", row(""))]).toEqual([null, null]);
    expect(rowName("node", row(""))).toBe("no node, while jobs waited");
    expect(rowName("experiment", row("3", "bert"))).toBe("3 bert");
  });

  it("sentence tells what was held, and what of it counted", () => {
    expect(tableSentence(table("day"), "in all")).toBe(
      "2 jobs held 2 device hours in all; steps that count took 50 % of them.",
    );
    expect(tableSentence(table("job", { goodput: null }), "in all")).toBe(
      "Jobs held 2 device hours in all; how much of them counted is not known.",
    );
    expect(tableSentence(table("day", { held_device_ms: 0 }), "in all")).toBe("No devices were held in all.");
  });
});

import { describe, expect, it } from "vitest";
import type { JobLedger } from "../src/api/types";
import { formatAmount, formatJoules } from "../src/format/numbers";
import { costText, energyText } from "../src/model/costs";

type Energy = NonNullable<JobLedger["energy"]>;
type Cost = NonNullable<JobLedger["cost"]>;

const energy = (changes: Partial<Energy>): { energy: Energy } => ({
  energy: {
    ...{ joules: 5_400_000, covered: 1, shared: 0 },
    ...{ samples: null, joules_per_sample: null, joules_to_target: null },
    ...changes,
  },
});

const cost = (changes: Partial<Cost>): { cost: Cost } => ({
  cost: { ...{ currency: "USD", amount: 12.346, to_target: null, parts: [], unpriced: [] }, ...changes },
});

describe("what a job drew", () => {
  it("is told in the unit that fits", () => {
    expect(formatJoules(7.25)).toBe("7.25 J");
    expect(formatJoules(1800)).toBe("1.8 kJ");
    expect(formatJoules(5_400_000)).toBe("1.5 kWh");
  });

  it("says of how much of the time it is known", () => {
    expect(energyText(energy({}))).toBe("1.5 kWh");
    expect(energyText(energy({ covered: 0.5 }))).toBe("1.5 kWh (of 50 % of the device time)");
    expect(energyText(energy({ joules_per_sample: 5.4, joules_to_target: 1000 }))).toBe(
      "1.5 kWh; 5.4 J a sample; 1 kJ to the target",
    );
  });

  it("is absent where nothing was measured, and not zero", () => {
    expect(energyText({ energy: null })).toBeNull();
    expect(energyText(energy({ joules: null, covered: 0, shared: 0.5 }))).toContain("other jobs shared");
  });
});

describe("what a job cost", () => {
  it("is told in cents, and more finely below one", () => {
    expect(formatAmount(12.346, "USD")).toBe("12.35 USD");
    expect(formatAmount(0.0123, "")).toBe("0.012");
    expect(costText(cost({ to_target: 8 }))).toBe("12.35 USD; 8.00 USD to the target");
  });

  it("is absent without prices, and says what has none", () => {
    expect(costText({ cost: null })).toBeNull();
    expect(costText(cost({ amount: null, unpriced: ["gpu NVIDIA H200"] }))).toBe(
      "not known: the coordinator has no --price for gpu NVIDIA H200",
    );
  });
});

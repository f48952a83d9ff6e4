// The energy and the cost of a job, in words. What is not known is said to be so and is never zero. Pure.
import type { JobLedger } from "../api/types";
import { formatAmount, formatJoules, formatShare } from "../format/numbers";

export const energyRule =
  "For a GPU, its own power. For CPU slots, the power of the node's processors while no other job held devices there. Time without a reading adds nothing.";
export const costRule =
  "Device hours held × the coordinator's current price of a device hour. Waiting costs nothing.";

/** Null if nothing was measured. */
export function energyText({ energy }: Pick<JobLedger, "energy">): string | null {
  if (energy === null) return null;
  if (energy.joules === null)
    return `not known: for ${formatShare(energy.shared)} of the device time other jobs shared the processors`;
  const parts = [
    formatJoules(energy.joules) +
      (energy.covered < 1 ? ` (of ${formatShare(energy.covered)} of the device time)` : ""),
  ];
  if (energy.shared > 0)
    parts.push(
      `for ${formatShare(energy.shared)} other jobs shared the processors, and their parts cannot be told apart`,
    );
  if (energy.joules_per_sample !== null) parts.push(`${formatJoules(energy.joules_per_sample)} a sample`);
  if (energy.joules_to_target !== null) parts.push(`${formatJoules(energy.joules_to_target)} to the target`);
  return parts.join("; ");
}

/** Null if the coordinator has no prices. */
export function costText({ cost }: Pick<JobLedger, "cost">): string | null {
  if (cost === null) return null;
  if (cost.amount === null)
    return `not known: the coordinator has no --price for ${cost.unpriced.join(", ")}`;
  const whole = formatAmount(cost.amount, cost.currency);
  return cost.to_target === null
    ? whole
    : `${whole}; ${formatAmount(cost.to_target, cost.currency)} to the target`;
}

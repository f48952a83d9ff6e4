// Ticks of an axis of dates: round moments in the reader's zone, in the shortest form. Pure.
import { dayMs, formatMinute } from "./times";

export interface DateTick {
  at: number;
  label: string;
}

const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const months = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric" });

/** The count of hours of a day, of days, or of months. */
const steps: readonly { ms: number; unit: "minute" | "day" | "month"; count: number }[] = [
  ...[1, 5, 15, 30, 60, 180, 360, 720].map((count) => ({
    ms: count * 60_000,
    unit: "minute" as const,
    count,
  })),
  ...[1, 2, 3, 7, 14].map((count) => ({ ms: count * dayMs, unit: "day" as const, count })),
  ...[1, 2, 3, 6, 12].map((count) => ({ ms: count * 30 * dayMs, unit: "month" as const, count })),
];

export function dateTicks(fromMs: number, toMs: number, most = 7): DateTick[] {
  const step = steps.find(({ ms }) => (toMs - fromMs) / ms <= most) ?? {
    ms: 0,
    unit: "month" as const,
    count: 12 * Math.ceil((toMs - fromMs) / (365 * dayMs * most)),
  };
  const ticks: DateTick[] = [];
  const moment = new Date(fromMs);
  if (step.unit === "month") moment.setMonth(Math.floor(moment.getMonth() / step.count) * step.count, 1);
  moment.setHours(0, 0, 0, 0);
  // Steps of many days begin at the first day of the range, which may be shorter than one step.
  if (step.unit === "day" && moment.getTime() < fromMs) moment.setDate(moment.getDate() + 1);
  while (moment.getTime() <= toMs) {
    const at = moment.getTime();
    if (at >= fromMs) ticks.push({ at, label: labelOf(moment, step.unit) });
    if (step.unit === "minute") moment.setTime(at + step.ms);
    else if (step.unit === "day") moment.setDate(moment.getDate() + step.count);
    else moment.setMonth(moment.getMonth() + step.count);
  }
  return ticks;
}

function labelOf(moment: Date, unit: "minute" | "day" | "month"): string {
  if (unit === "month") return months.format(moment);
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0;
  return unit === "day" || isMidnight ? days.format(moment) : formatMinute(moment.getTime());
}

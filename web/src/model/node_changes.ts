// The input of a reader who changes a node: a drain with its window, and the labels that operators give.
import type { Drain } from "../api/types";

/** The times are as in a field for date and time: local time without a zone; "" for none. */
export function readWindow(reason: string, from: string, until: string, nowMs: number): Drain | string {
  const fromMs = from === "" ? null : new Date(from).getTime();
  const untilMs = until === "" ? null : new Date(until).getTime();
  if (untilMs !== null && untilMs <= nowMs) return "The window has ended already.";
  if (fromMs !== null && untilMs !== null && untilMs <= fromMs) return "The window must end after it begins.";
  return { reason: reason.trim(), from_ms: fromMs, until_ms: untilMs };
}

/** For a field for date and time: local time to the minute. */
export function fieldTime(ms: number | null): string {
  if (ms === null) return "";
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export type LabelRow = [key: string, value: string];

const word = /^[A-Za-z0-9_./-]{1,63}$/;

/**
 * The change that makes the operators' labels those of `rows`, where null removes a label; or a sentence that says
 * what is wrong.
 */
export function labelChanges(
  before: Record<string, string>,
  rows: LabelRow[],
): Record<string, string | null> | string {
  const wanted = new Map<string, string>();
  for (const [key, value] of rows.filter(([key, value]) => key !== "" || value !== "")) {
    if (!word.test(key) || !word.test(value))
      return `${key}=${value}: a label and its value consist of letters, digits and _ . / -, at most 63 each.`;
    if (wanted.has(key)) return `The label ${key} appears twice.`;
    wanted.set(key, value);
  }
  const changes: Record<string, string | null> = {};
  for (const [key, value] of wanted) if (before[key] !== value) changes[key] = value;
  for (const key of Object.keys(before)) if (!wanted.has(key)) changes[key] = null;
  return changes;
}

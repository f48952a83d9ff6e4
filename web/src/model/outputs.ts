// The files that are collected when a job's processes end.
import type { JobOutputs } from "../api/types";

/** Whether the spec names any. */
export function namesOutputs(spec: unknown): boolean {
  const { outputs } = (spec ?? {}) as { outputs?: unknown };
  return Array.isArray(outputs) && outputs.length > 0;
}

/** Whether more may come. */
export const isComplete = (list: JobOutputs): boolean =>
  list.available && list.ranks.length > 0 && list.ranks.length >= list.processes;

/** What there is, or why there is nothing. */
export function summaryOf(list: JobOutputs): string {
  if (!list.available)
    return `They lie in ${list.folder} of the shared folder, which this coordinator does not see: start it with --shared.`;
  if (list.ranks.length === 0) return "None yet: they are collected when the processes have ended.";
  const processes =
    list.processes === 1 ? "1 process" : `${list.ranks.length} of ${list.processes} processes`;
  const files = list.outputs.length === 1 ? "1 file" : `${list.outputs.length} files`;
  return `Attempt ${list.attempt}: ${files}${list.more ? " and more" : ""} of ${processes}, in ${list.folder} of the shared folder.`;
}

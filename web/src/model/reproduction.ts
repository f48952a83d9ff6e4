// A job beside the one that it repeats, in the words of `podium show`. Pure.
import type { Job } from "../api/types";
import { formatChange } from "../format/numbers";
import { formatDuration } from "../format/times";

type Timed = Pick<Job, "id" | "state" | "time_to_train_seconds">;

/** From the label that the coordinator gives; null: the job repeats none. */
export function originalOf({ labels }: Pick<Job, "labels">): number | null {
  const id = Number(labels["reproduces"]);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

/** "1m 3s then, 58s now (−8.0 %)"; a job without a time has its state instead. */
export function besideText(original: Timed, repeat: Timed): string {
  const [then, now] = [original.time_to_train_seconds, repeat.time_to_train_seconds];
  const text = (job: Timed) =>
    job.time_to_train_seconds === null ? job.state : formatDuration(job.time_to_train_seconds);
  const change = then !== null && now !== null ? ` (${formatChange(now / then - 1)})` : "";
  return `${text(original)} then, ${text(repeat)} now${change}`;
}

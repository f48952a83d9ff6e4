// A job beside the one that it repeats, as `podium show` tells it. Pure.
import type { Job } from "../api/types";
import { formatChange } from "../format/numbers";
import { formatDuration } from "../format/times";

type Timed = Pick<Job, "id" | "state" | "time_to_train_seconds">;

/** Of the label that the coordinator gives it; null: it repeats none. */
export function originalOf({ labels }: Pick<Job, "labels">): number | null {
  const id = Number(labels["reproduces"]);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

/** "1m 3s then, 58s now (−8.0 %)"; a time that there is not is the state. */
export function besideText(original: Timed, repeat: Timed): string {
  const [then, now] = [original.time_to_train_seconds, repeat.time_to_train_seconds];
  const text = (job: Timed) =>
    job.time_to_train_seconds === null ? job.state : formatDuration(job.time_to_train_seconds);
  const change = then !== null && now !== null ? ` (${formatChange(now / then - 1)})` : "";
  return `${text(original)} then, ${text(repeat)} now${change}`;
}

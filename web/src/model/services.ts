// What the page of services says of one: how far its newest spec is, and how each replica does. Pure.
import type { Service } from "../api/types";

export type Replica = Service["replicas"][number];

export interface Remark {
  text: string;
  /** Somebody should look. */
  bad: boolean;
}

/** Null while all is as it should be. */
export function remarkOn({ roll, failure, experiment, ready }: Service): Remark | null {
  const from = roll.from.map((each) => `experiment ${each}`).join(", ");
  const because = roll.reason ? `: ${roll.reason}` : "";
  if (roll.state === "rolling")
    return { text: `Experiment ${experiment} takes the place of ${from}${because}`, bad: false };
  if (roll.state === "halted") return { text: `Halted, ${from} serves on${because}`, bad: true };
  if (failure) return { text: `Job ${failure.job} failed: ${failure.reason}`, bad: true };
  return ready === 0 ? { text: "No replica is ready", bad: true } : null;
}

/** The word for a replica's state. */
export function replicaState({ paused, ready, state }: Replica): string {
  if (ready) return "ready";
  if (paused && state === "queued") return "paused";
  return state === "running" ? "not ready" : state;
}

/** Those that answer first, then those that may soon, each by number. */
export function sortedReplicas(replicas: readonly Replica[]): Replica[] {
  const rank = (replica: Replica) => (replica.ready ? 0 : replica.paused ? 2 : 1);
  return [...replicas].sort((a, b) => rank(a) - rank(b) || a.job - b.job);
}

// States as an icon and a word in the state's colour; labels.
import type { JobState, NodeState } from "../api/types";
import { HeldIcon, JobStateIcon, NodeStateIcon } from "./icons";

export function JobStateBadge({ state }: { state: JobState }) {
  return (
    <span class={`badge state-${state}`}>
      <JobStateIcon state={state} />
      {state}
    </span>
  );
}

export function NodeStateBadge({ state }: { state: NodeState }) {
  return (
    <span class={`badge node-${state}`}>
      <NodeStateIcon state={state} />
      {state}
    </span>
  );
}

/** An operator holds the job: it does not start, or start again. */
export function HeldBadge() {
  return (
    <span class="badge is-held">
      <HeldIcon />
      held
    </span>
  );
}

/** A program elsewhere logs the job over MLflow's API. */
export function TrackedBadge() {
  return (
    <span class="label" title="A program elsewhere logs it over MLflow's API; Podium does not schedule it">
      tracked
    </span>
  );
}

export function Labels({ labels }: { labels: Record<string, string> }) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <span class="labels">
      {entries.map(([key, value]) => (
        <span class="label" key={key}>
          {key}:{value}
        </span>
      ))}
    </span>
  );
}

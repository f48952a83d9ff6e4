// States as icon and word in the state's colour, and times that keep themselves current.
import { useComputed } from "@preact/signals";
import type { JobState, NodeState } from "../api/types";
import { formatAbsolute, formatAge } from "../model/times";
import { now } from "../state/clock";
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

/** An operator holds it: it does not start, or start again. */
export function HeldBadge() {
  return (
    <span class="badge held">
      <HeldIcon />
      held
    </span>
  );
}

/** Relative time, absolute on hover; the text alone changes each second. */
export function Ago({ ms }: { ms: number }) {
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatAbsolute(ms)}>
      <AgeText key={ms} ms={ms} />
    </time>
  );
}

function AgeText({ ms }: { ms: number }) {
  const text = useComputed(() => formatAge(ms, now.value));
  return <>{text}</>;
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

// Times by the coordinator's clock and in the reader's zone: short where they stand, in full with the zone on hover.
import type { ComponentChildren } from "preact";
import { useComputed } from "@preact/signals";
import { formatAbsolute, formatAge, formatMoment } from "../format/times";
import { now } from "../state/clock";

interface Properties {
  ms: number;
  /** In place of the time of day, with the day where it is not of the last hours. */
  children?: ComponentChildren;
}

export function Moment({ ms, children }: Properties) {
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatAbsolute(ms)}>
      {children ?? formatMoment(ms, now.value)}
    </time>
  );
}

/** "3h ago"; the text alone changes each second. */
export function Ago({ ms }: { ms: number }) {
  return (
    <Moment ms={ms}>
      <AgeText key={ms} ms={ms} />
    </Moment>
  );
}

function AgeText({ ms }: { ms: number }) {
  const text = useComputed(() => formatAge(ms, now.value));
  return <>{text}</>;
}

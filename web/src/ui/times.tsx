// Times in the reader's zone: a short text, and the full time with its zone on hover.
import type { ComponentChildren } from "preact";
import { useComputed } from "@preact/signals";
import { formatAbsolute, formatAge, formatMoment } from "../format/times";
import { now } from "../state/clock";

interface Properties {
  ms: number;
  /** Replaces the default text, which is the time of day, with the day if it is not within half a day of now. */
  children?: ComponentChildren;
}

export function Moment({ ms, children }: Properties) {
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatAbsolute(ms)}>
      {children ?? formatMoment(ms, now.value)}
    </time>
  );
}

/** "3h ago"; only the text changes each second. */
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

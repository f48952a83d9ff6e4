// What a page shows instead of its content: that it is empty, loading or failed, and what to do next.
import type { ComponentChildren } from "preact";
import type { Shown } from "../hooks/use_query";
import { setParams } from "../state/router";
import { connection } from "../state/store";
import { Button } from "./button";

interface Properties {
  kind: "empty" | "loading" | "failed";
  title: string;
  children?: ComponentChildren;
}

export function Notice({ kind, title, children }: Properties) {
  return (
    <div class={`notice notice-${kind}`} role={kind === "failed" ? "alert" : "status"}>
      <p class="notice-title">{title}</p>
      {children && <div class="notice-text">{children}</div>}
    </div>
  );
}

/** Stands for something that is not loaded yet; `what` as in "the queue". */
export function NotYet({ what, shown }: { what: string; shown: Shown<unknown> }) {
  if (shown.error)
    return (
      <Notice kind="failed" title={`${what[0]!.toUpperCase()}${what.slice(1)} could not be loaded`}>
        <p>{shown.error}</p>
        <Button onPress={shown.retry}>Retry</Button>
      </Notice>
    );
  const offline = connection.value.state === "offline";
  return <Notice kind="loading" title={offline ? "Waiting for the coordinator" : `Loading ${what}…`} />;
}

/** Stands for one thing that is not loaded or does not exist; `what` as in "job 7", `all` as in "jobs". */
export function NotHere({ what, all, shown }: { what: string; all: string; shown: Shown<unknown> }) {
  if (!shown.notFound) return <NotYet what={what} shown={shown} />;
  return (
    <Notice kind="empty" title={`There is no ${what}`}>
      See <a href={`#/${all}`}>all {all}</a>.
    </Notice>
  );
}

interface NoRowsProperties {
  /** "job", for a list of "jobs". */
  one: string;
  list: Shown<unknown>;
  complete: boolean;
  /** There are rows, but none passes the filter. */
  filtered: boolean;
  /** The text if there are no rows at all, and how to make one. */
  empty: string;
  children: ComponentChildren;
}

/** Stands for a list without rows. */
export function NoRows({ one, list, complete, filtered, empty, children }: NoRowsProperties) {
  if (!complete) return <NotYet what={`the ${one}s`} shown={list} />;
  if (filtered)
    return (
      <Notice kind="empty" title={`No ${one} matches this filter`}>
        <Button onPress={() => setParams({ q: null, state: null })}>Show all {one}s</Button>
      </Notice>
    );
  return (
    <Notice kind="empty" title={empty}>
      {children}
    </Notice>
  );
}

// The list of jobs that the address describes, loaded as far as the reader looks.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { nameOf, viewFrom, type JobView } from "../model/job_list";
import { JobRows, type Listed } from "../model/job_rows";
import type { JobWindows } from "../state/job_windows";
import { place, route } from "../state/router";
import { jobs, jobViews } from "../state/store";
import { shownOf, type Shown } from "./use_query";

/** The number of placeholder rows while the number of jobs is not known. */
const screenful = 40;

export interface JobListShown {
  /**
   * The list that the address describes. Its rows and figures are those of the list before until the first answer
   * has arrived.
   */
  view: JobView;
  listed: Listed;
  rows: JobRows;
  /** Names the list that the rows belong to. */
  name: string;
  answer: Shown<Listed>;
  look(top: number, bottom: number): void;
}

export function useJobList(experiment: number | null): JobListShown {
  const { params } = route.value;
  const asked = viewFrom(params, experiment);
  const name = nameOf(asked);
  const windows = useMemo(() => jobViews.of(asked), [name]);
  useLayoutEffect(() => windows.open(), [windows]);
  const answer = shownOf(windows.reading.value);
  const shown = useLastKnown(windows, answer.error !== "");
  const listed = shown.listed.value;
  const all = jobs.value;
  const rows = useMemo(() => new JobRows(listed, all, screenful), [listed, all]);
  return {
    view: asked,
    listed,
    rows,
    name: nameOf(shown.view),
    answer,
    look: (top, bottom) => shown.look({ top, bottom }),
  };
}

/**
 * The filter or order has changed on the same page: the rows stay until the new ones are known, so that nothing
 * flickers.
 */
function useLastKnown(windows: JobWindows, failed: boolean): JobWindows {
  const last = useRef({ windows, at: place.value });
  const waits = windows.listed.value.total === null && !failed && last.current.at === place.value;
  if (!waits) last.current = { windows, at: place.value };
  return last.current.windows;
}

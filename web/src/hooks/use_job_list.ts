// A list of jobs, as far as it is looked at: which is in the address.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { nameOf, viewFrom, type JobView } from "../model/job_list";
import { JobRows, type Listed } from "../model/job_rows";
import type { JobWindows } from "../state/job_windows";
import { place, route } from "../state/router";
import { jobs, jobViews } from "../state/store";
import { shownOf, type Shown } from "./use_query";

/** Shapes to show before it is known how many jobs there are. */
const screenful = 40;

export interface JobListShown {
  /** As the address has it; the rows and figures are those of the list before until the first answer has come. */
  view: JobView;
  listed: Listed;
  rows: JobRows;
  /** Names the list that the rows are of. */
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

/** Another filter or order of the same place: what was there stays until it is known, so that nothing flickers. */
function useLastKnown(windows: JobWindows, failed: boolean): JobWindows {
  const last = useRef({ windows, at: place.value });
  const waits = windows.listed.value.total === null && !failed && last.current.at === place.value;
  if (!waits) last.current = { windows, at: place.value };
  return last.current.windows;
}

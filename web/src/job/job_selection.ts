// Which jobs of a list are selected. They are kept up to date wherever they are in the list. All jobs can be selected, even
// those that are not loaded.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { explain } from "../api/problem";
import type { Job } from "../api/types";
import type { JobListShown } from "../hooks/use_job_list";
import { nameOf } from "../model/job_list";
import { askForAllJobs } from "../state/all_jobs";
import { cluster, jobs } from "../state/store";
import { useChosen, type Selection } from "../ui/selection";

export interface JobSelection extends Selection {
  jobs: readonly Job[];
  /** Why not all could be selected; "" if nothing is wrong. */
  problem: string;
}

export function useJobSelection({ view, name, listed, rows }: JobListShown): JobSelection {
  const chosen = useChosen();
  const { ids } = chosen;
  const known = jobs.value;
  const [asking, setAsking] = useState({ busy: false, problem: "" });
  const under = useRef<AbortController | null>(null);
  useLayoutEffect(() => cluster.retain("selected", () => ids), [ids]);
  useEffect(() => () => under.current?.abort(), [name]);
  // Back can restore a selection whose jobs have been forgotten since.
  useEffect(() => {
    chosen.set(
      [...ids].filter((id) => !known.has(id)),
      false,
    );
  }, []);

  // The caller may have been created for an earlier list, because the columns of a table outlive its filter.
  const newest = useRef(view);
  newest.current = view;

  const selectAll = async () => {
    const asked = newest.current;
    const abort = (under.current = new AbortController());
    const asOf = cluster.position;
    setAsking({ busy: true, problem: "" });
    try {
      const all = await askForAllJobs(asked, abort.signal);
      if (nameOf(newest.current) !== nameOf(asked)) return setAsking({ busy: false, problem: "" });
      const found = all.map(({ id }) => id);
      cluster.retain("selected", () => [...ids, ...found]);
      cluster.putListed(all, asOf);
      chosen.set(found, true);
      setAsking({ busy: false, problem: "" });
    } catch (error) {
      setAsking({ busy: false, problem: abort.signal.aborted ? "" : explain(error) });
    }
  };

  const checked = useMemo(() => {
    if (!listed.total || ids.size < listed.total) return false;
    for (const [, { id }] of rows.entries()) if (!ids.has(id)) return false;
    return true;
  }, [ids, rows, listed.total]);
  return {
    ...chosen,
    all: { checked, busy: asking.busy, set: (on) => (on ? void selectAll() : chosen.clear()) },
    jobs: useMemo(() => [...ids].flatMap((id) => known.get(id) ?? []), [ids, known]),
    problem: asking.problem,
  };
}

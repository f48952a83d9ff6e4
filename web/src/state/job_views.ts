// The lists of jobs that the reader looked at last, so that Back finds them as they were.
import { queryOf, type JobView } from "../model/job_list";
import type { Cluster } from "./cluster";
import { JobWindows, type Pace } from "./job_windows";
import type { Queries } from "./queries";

const mostViews = 4;

export class JobViews {
  private readonly views = new Map<string, JobWindows>();
  private readonly pace: Pace = { startedAt: -Infinity };

  constructor(
    private readonly queries: Queries,
    private readonly cluster: Cluster,
  ) {
    cluster.retain("lists", () => this.ids());
  }

  of(view: JobView): JobWindows {
    const key = new URLSearchParams(queryOf(view)).toString();
    const known = this.views.get(key) ?? new JobWindows(view, this.queries, this.cluster, this.pace);
    this.views.delete(key);
    this.views.set(key, known);
    for (const old of this.views.keys()) if (this.views.size > mostViews) this.views.delete(old);
    return known;
  }

  private *ids(): Iterable<number> {
    for (const { listed } of this.views.values())
      for (const { ids } of listed.peek().windows.values()) yield* ids;
  }
}

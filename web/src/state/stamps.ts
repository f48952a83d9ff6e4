// The last report of each job, reduced to a stamp of what matters, so that a report that changes nothing is not news. Stamps
// include jobs that no page shows.
import type { Job } from "../api/types";

/** Far more than run at once. A forgotten job counts as changed once more. */
const most = 50_000;

export class Stamps {
  private readonly told = new Map<number, { revision: number; stamp: string }>();

  constructor(private readonly stampOf: (job: Job) => string) {}

  /**
   * Whether the stamp differs from the last one, or from `known` if there is none. An older report is not news.
   * `asOf`: the newest message at the time of the request.
   */
  moved(job: Job, asOf: number, known?: Job): boolean {
    const told = { revision: job.revision ?? asOf, stamp: this.stampOf(job) };
    const before =
      this.told.get(job.id) ?? (known && { revision: known.revision ?? 0, stamp: this.stampOf(known) });
    if (before && told.revision < before.revision) return false;
    if (this.told.size >= most) this.told.clear();
    this.told.set(job.id, told);
    return before?.stamp !== told.stamp;
  }

  forget(): void {
    this.told.clear();
  }
}

// What was last told of jobs, in the few words that matter to somebody, so that what changes nothing for them is no news.
// Of all jobs that were told of, also of those that nobody looks at.
import type { Job } from "../api/types";

/** Far more than run at once; what is forgotten counts as changed once more. */
const most = 50_000;

export class Stamps {
  private readonly told = new Map<number, { revision: number; stamp: string }>();

  constructor(private readonly stampOf: (job: Job) => string) {}

  /** Whether it is another than was told before, or than `known` where nothing was; what is older is no news. `asOf`: the
   * newest message when it was asked for. */
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

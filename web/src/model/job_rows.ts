// A list of jobs of which only some windows are loaded: the coordinator's answers, and the rows of a table.
import type { Job } from "../api/types";
import type { StateCounts } from "./job_list";

/** Windows begin at multiples of this number. */
export const windowSize = 100;

/** One reading of a window. */
export interface JobWindow {
  ids: readonly number[];
  /** The number of jobs in the whole list. */
  total: number;
  /** By performance.now(). */
  askedAt: number;
  /** The count of messages before the request (state/job_windows.ts). */
  turn: number;
  heard: number;
}

export interface Listed {
  /** Null before the first answer. */
  total: number | null;
  states: StateCounts;
  windows: ReadonlyMap<number, JobWindow>;
}

export const nothingListed: Listed = { total: null, states: {}, windows: new Map() };

/** From one window to another, both included. */
export interface Span {
  from: number;
  to: number;
}

export const windowOf = (index: number) => Math.floor(index / windowSize);

export const isWithin = ({ from, to }: Span, number: number) => from <= number && number <= to;

export const numbersOf = ({ from, to }: Span) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** There always is a first window; for an empty list it is empty. */
export const lastWindow = (total: number | null) =>
  total === null ? Number.POSITIVE_INFINITY : windowOf(Math.max(0, total - 1));

export const idAt = ({ windows }: Listed, index: number): number | undefined =>
  windows.get(windowOf(index))?.ids[index % windowSize];

/** The rows of a table; undefined for those that are not loaded. */
export class JobRows {
  constructor(
    private readonly listed: Listed,
    private readonly jobs: ReadonlyMap<number, Job>,
    /** The rows to show while the number of jobs is not known. */
    private readonly guess: number,
  ) {}

  get length(): number {
    return this.listed.total ?? this.guess;
  }

  at(index: number): Job | undefined {
    const id = idAt(this.listed, index);
    return id === undefined ? undefined : this.jobs.get(id);
  }

  /** The loaded jobs. If a job moved between two readings, the newer reading counts. */
  *entries(): Iterable<[number, Job]> {
    const newestFirst = [...this.listed.windows].sort(([, a], [, b]) => b.askedAt - a.askedAt);
    for (const [number, { ids }] of newestFirst) {
      for (const [at, id] of ids.entries()) {
        const job = this.jobs.get(id);
        if (job) yield [number * windowSize + at, job];
      }
    }
  }
}

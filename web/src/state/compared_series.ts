// One metric of several jobs: fetched in one answer, then extended by the live stream.
import { signal } from "@preact/signals";
import { getSeriesOfJobs } from "../api/client";
import type { LivePoint } from "../api/types";
import { readSeries, withLivePoints, type Point, type SeriesMap } from "../model/series";
import type { Ask, Reading } from "./queries";
import { drawMs, pointsAsked } from "./job_series";

/** By job. */
export type ComparedSeries = ReadonlyMap<number, readonly Point[]>;

interface Heard {
  job: number;
  points: LivePoint[];
}

export class MetricOfJobs {
  /** By job, from the last request. */
  readonly lost = signal<ReadonlyMap<number, number>>(new Map());
  /** Points that arrived during the request under way; its answer may lack them. */
  private early: Heard[] | null = null;
  private waiting: Heard[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly jobs: readonly number[],
    private readonly key: string,
  ) {}

  readonly ask: Ask<ComparedSeries> = async ({ signal }) => {
    const early: Heard[] = (this.early = []);
    try {
      const wire = await getSeriesOfJobs(this.jobs, this.key, pointsAsked, signal);
      this.lost.value = new Map(wire.map((each) => [each.job, each.lost_points]));
      const series = new Map(wire.map((each) => [each.job, readSeries([each]).get(this.key)!]));
      return this.grown(series, early);
    } finally {
      if (this.early === early) this.early = null;
    }
  };

  hear(job: number, all: readonly LivePoint[], reading: Reading<ComparedSeries> | null): void {
    const points = all.filter(({ key }) => key === this.key);
    if (points.length === 0) return;
    this.early?.push({ job, points });
    this.waiting.push({ job, points });
    if (this.timer === null) this.pass(reading);
  }

  private pass(reading: Reading<ComparedSeries> | null): void {
    const heard = this.waiting;
    this.waiting = [];
    this.timer = heard.length === 0 ? null : setTimeout(() => this.pass(reading), drawMs);
    if (heard.length > 0) reading?.update((series) => this.grown(series, heard));
  }

  private grown(series: ComparedSeries, heard: readonly Heard[]): ComparedSeries {
    const next = new Map(series);
    for (const { job, points } of heard) {
      const before: SeriesMap = new Map([[this.key, next.get(job) ?? []]]);
      next.set(job, withLivePoints(before, points, pointsAsked).get(this.key)!);
    }
    return next;
  }
}

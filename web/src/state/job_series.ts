// The metric series of one job: fetched, then extended by the live stream.
import { signal } from "@preact/signals";
import { getMetrics, getSeries } from "../api/client";
import type { LivePoint } from "../api/types";
import { lostPoints, readSeries, withLivePoints, type LostPoints, type SeriesMap } from "../model/series";
import type { Ask, Reading } from "./queries";

export const pointsAsked = 1000;
/** Curves are drawn no more often than this. */
export const drawMs = 1_000;

export class JobSeries {
  /** From the last request. */
  readonly lost = signal<LostPoints>(new Map());
  /** Points that arrived during the request under way. Its answer may lack them; outside of a request there are none. */
  private early: LivePoint[] | null = null;
  private waiting: LivePoint[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly job: number) {}

  readonly ask: Ask<SeriesMap> = async ({ signal }) => {
    const early: LivePoint[] = (this.early = []);
    try {
      const keys = (await getMetrics(this.job, signal)).map(({ key }) => key);
      const wire = await getSeries(this.job, keys, pointsAsked, signal);
      this.lost.value = lostPoints(wire);
      return withLivePoints(readSeries(wire), early, pointsAsked);
    } finally {
      if (this.early === early) this.early = null;
    }
  };

  hear(points: LivePoint[], reading: Reading<SeriesMap> | null): void {
    this.early?.push(...points);
    this.waiting.push(...points);
    if (this.timer === null) this.pass(reading);
  }

  private pass(reading: Reading<SeriesMap> | null): void {
    const points = this.waiting;
    this.waiting = [];
    this.timer = points.length === 0 ? null : setTimeout(() => this.pass(reading), drawMs);
    if (points.length > 0) reading?.update((series) => withLivePoints(series, points, pointsAsked));
  }
}

// The charts of a job, or a notice if it has no metrics.
import type { JobDetail, Projection } from "../api/types";
import type { ShownSeries } from "../hooks/use_series";
import { Notice, NotYet } from "../ui/notice";
import { commandOf } from "../model/command";
import { lazy } from "../ui/lazy";

const loading = <Notice kind="loading" title="Loading the curves…" />;
const Curves = lazy(async () => (await import("./curves")).Curves, loading);

interface Properties {
  job: JobDetail;
  shown: ShownSeries;
  projection: Projection | null;
}

export function JobCharts({ job, shown, projection }: Properties) {
  const { data: series, error } = shown;
  if (series && series.size > 0)
    return <Curves job={job} series={series} shown={shown} projection={projection} />;
  // A program that reports no metrics is complete without charts.
  if (!error && commandOf(job.spec)) return null;
  if (!series) return <NotYet what="the curves" shown={shown} />;
  const over = job.ended_ms !== null;
  return (
    <Notice kind="empty" title={over ? "This job recorded no metrics" : "No metrics yet"}>
      {over ? "Its log may say why." : "Curves appear here as soon as the first step is logged."}
    </Notice>
  );
}

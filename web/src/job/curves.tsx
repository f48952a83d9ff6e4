// All curves of one job.
import { useMemo } from "preact/hooks";
import type { JobDetail, Projection } from "../api/types";
import { ChartGroup } from "../charts/group";
import type { ShownSeries } from "../hooks/use_series";
import { groupCharts } from "../model/charts";
import { isReplica } from "../model/command";
import type { SeriesMap } from "../model/series";
import { route } from "../state/router";
import { settingsFrom } from "./chart_settings";
import { ChartToolbar } from "./chart_toolbar";
import { MetricChart } from "./metric_chart";
import { ProjectionLine } from "./projection_line";
import { extentOfAll } from "./metric_figure";

interface Properties {
  job: JobDetail;
  series: SeriesMap;
  shown: ShownSeries;
  projection: Projection | null;
}

export function Curves({ job, series, shown, projection }: Properties) {
  const { params } = route.value;
  const usual = isReplica(job.spec) ? "time" : "step";
  const settings = useMemo(() => settingsFrom(params, usual), [params, usual]);
  const { axis } = settings;
  const startMs = job.started_ms ?? job.submitted_ms;
  const extent = useMemo(() => extentOfAll(series, { axis, startMs }), [series, axis, startMs]);
  return (
    <section aria-label="Curves">
      {projection && <ProjectionLine projection={projection} />}
      <ChartGroup>
        <ChartToolbar usual={usual} settings={settings} shown={shown} />
        <div class="chart-grid">
          {groupCharts([...series.keys()], job.target).map((group) => (
            <MetricChart
              key={group.id}
              job={job.id}
              group={group}
              series={series}
              lost={shown.lost}
              settings={settings}
              attempts={job.attempts}
              target={job.target}
              projection={projection?.metric && group.keys.includes(projection.metric) ? projection : null}
              steps={job.progress?.steps ?? 0}
              startMs={startMs}
              extent={extent}
            />
          ))}
        </div>
      </ChartGroup>
    </section>
  );
}

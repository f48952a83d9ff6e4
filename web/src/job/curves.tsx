// All curves of one job.
import { useMemo } from "preact/hooks";
import type { JobDetail } from "../api/types";
import { ChartGroup } from "../charts/group";
import type { Shown } from "../hooks/use_query";
import { groupCharts } from "../model/charts";
import type { SeriesMap } from "../model/series";
import { route } from "../state/router";
import { settingsFrom } from "./chart_settings";
import { ChartToolbar } from "./chart_toolbar";
import { MetricChart } from "./metric_chart";
import { extentOfAll } from "./metric_figure";

interface Properties {
  job: JobDetail;
  series: SeriesMap;
  shown: Shown<SeriesMap>;
}

export function Curves({ job, series, shown }: Properties) {
  const { params } = route.value;
  const settings = useMemo(() => settingsFrom(params), [params]);
  const { axis } = settings;
  const startMs = job.started_ms ?? job.submitted_ms;
  const extent = useMemo(() => extentOfAll(series, { axis, startMs }), [series, axis, startMs]);
  return (
    <section aria-label="Curves">
      <ChartGroup>
        <ChartToolbar settings={settings} shown={shown} />
        <div class="chart-grid">
          {groupCharts([...series.keys()], job.target).map((group) => (
            <MetricChart
              key={group.id}
              job={job.id}
              group={group}
              series={series}
              settings={settings}
              attempts={job.attempts}
              target={job.target}
              startMs={startMs}
              extent={extent}
            />
          ))}
        </div>
      </ChartGroup>
    </section>
  );
}

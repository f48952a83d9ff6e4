// All curves of one job.
import { useMemo } from "preact/hooks";
import type { JobDetail } from "../api/types";
import { groupCharts } from "../model/charts";
import { route } from "../state/router";
import { ChartPanel } from "./chart_panel";
import { ChartToolbar, settingsFrom } from "./chart_settings";
import { Notice } from "./notice";
import type { SeriesState } from "./use_series";

export function JobCharts({ job, state }: { job: JobDetail; state: SeriesState }) {
  const { params } = route.value;
  const settings = useMemo(() => settingsFrom(params), [params]);
  if (!state.series) {
    return state.error ? (
      <Notice kind="failed" title="The curves could not be loaded">
        {state.error}
      </Notice>
    ) : (
      <Notice kind="loading" title="Loading curves…" />
    );
  }
  const { series } = state;
  const groups = groupCharts([...series.keys()], job.target);
  if (groups.length === 0) {
    const over = job.ended_ms !== null;
    return (
      <Notice kind="empty" title={over ? "This job recorded no metrics" : "No metrics yet"}>
        {over ? "Its log may say why." : "Curves appear here as soon as the first step is logged."}
      </Notice>
    );
  }
  const startMs = job.started_ms ?? job.submitted_ms;
  return (
    <section aria-label="Curves">
      <ChartToolbar settings={settings} />
      <div class="chart-grid">
        {groups.map((group) => (
          <ChartPanel
            key={group.id}
            group={group}
            series={series}
            settings={settings}
            attempts={job.attempts}
            target={job.target}
            startMs={startMs}
          />
        ))}
      </div>
    </section>
  );
}

// What is chosen for all charts of a job.
import { ResetZoom } from "../charts/group";
import type { Shown } from "../hooks/use_query";
import { setParams } from "../state/router";
import { AsOf } from "../ui/as_of";
import { Choice } from "../ui/choice";
import type { ChartSettings } from "./chart_settings";
import { xAxisOf } from "./metric_figure";

export function ChartToolbar({ settings, shown }: { settings: ChartSettings; shown: Shown<unknown> }) {
  return (
    <div class="chart-toolbar">
      <Choice
        label="X axis"
        value={settings.axis}
        options={[
          ["step", "Step"],
          ["time", "Wall-clock"],
        ]}
        onChange={(value) => setParams({ x: value === "step" ? null : value })}
      />
      <Choice
        label="Y scale"
        value={settings.logarithmic ? "log" : "linear"}
        options={[
          ["linear", "Linear"],
          ["log", "Log"],
        ]}
        onChange={(value) => setParams({ y: value === "linear" ? null : value })}
      />
      <label class="smooth">
        Smoothing
        <input
          type="range"
          min="0"
          max="0.98"
          step="0.02"
          value={settings.smooth}
          onInput={(event) =>
            setParams({ smooth: event.currentTarget.value === "0" ? null : event.currentTarget.value })
          }
        />
        <span class="number">{settings.smooth === 0 ? "off" : settings.smooth.toFixed(2)}</span>
      </label>
      <ResetZoom axis={xAxisOf(settings.axis).title} />
      <AsOf shown={shown} />
    </div>
  );
}

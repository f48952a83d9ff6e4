// The settings of all charts of a job.
import { CurveControls } from "../charts/curve_controls";
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
      <CurveControls logarithmic={settings.logarithmic} smooth={settings.smooth} />
      <ResetZoom axis={xAxisOf(settings.axis).title} />
      <AsOf shown={shown} />
    </div>
  );
}

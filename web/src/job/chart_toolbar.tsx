// The settings of all charts of a job.
import { CurveControls } from "../charts/curve_controls";
import { ResetZoom } from "../charts/group";
import type { Shown } from "../hooks/use_query";
import { setParams } from "../state/router";
import type { XAxis } from "../model/series";
import { AsOf } from "../ui/as_of";
import { Choice } from "../ui/choice";
import type { ChartSettings } from "./chart_settings";
import { xAxisOf } from "./metric_figure";

interface Properties {
  settings: ChartSettings;
  /** The x axis that the address does not name. */
  usual: XAxis;
  shown: Shown<unknown>;
}

export function ChartToolbar({ settings, usual, shown }: Properties) {
  return (
    <div class="chart-toolbar">
      <Choice
        label="X axis"
        value={settings.axis}
        options={[
          ["step", "Step"],
          ["time", "Wall-clock"],
        ]}
        onChange={(value) => setParams({ x: value === usual ? null : value })}
      />
      <CurveControls logarithmic={settings.logarithmic} smooth={settings.smooth} />
      <ResetZoom axis={xAxisOf(settings.axis).title} />
      <AsOf shown={shown} />
    </div>
  );
}

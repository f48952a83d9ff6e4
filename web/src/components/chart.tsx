// One uPlot canvas. It is rebuilt when its look changes and only fed when data comes; a zoom survives new data.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Aligned } from "../model/series";
import { chartOptions, type ChartLook } from "./chart_options";

interface Properties {
  data: Aligned;
  look: ChartLook;
  /** Changes exactly when the look does: curves, axis, scale, marks, target, theme. */
  lookKey: string;
  zoomed: boolean;
  height: number;
  label: string;
}

export function Chart({ data, look, lookKey, zoomed, height, label }: Properties) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const aligned = [data.xs, ...data.rows] as uPlot.AlignedData;

  useEffect(() => {
    const element = host.current!;
    const built = new uPlot(chartOptions(look, element.clientWidth, height), aligned, element);
    plot.current = built;
    const resize = new ResizeObserver(() => {
      if (element.clientWidth !== built.width) built.setSize({ width: element.clientWidth, height });
    });
    resize.observe(element);
    const reset = () => look.onZoom(false);
    built.over.addEventListener("dblclick", reset);
    return () => {
      resize.disconnect();
      built.destroy();
      plot.current = null;
    };
  }, [lookKey, height]);

  useEffect(() => {
    plot.current?.setData(aligned, !zoomed);
    if (zoomed) plot.current?.redraw();
  }, [data, zoomed]);

  return <div ref={host} class="chart" role="img" aria-label={label} />;
}

// One uPlot canvas. It is rebuilt only for other lines or another scale. Data, colours, hidden lines and the range of x
// change the existing plot.
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { dark } from "../state/theme";
import { useChartGroup } from "./group";
import { entryOf, extentOf, seriesOf, type Aligned } from "./line";
import { plotOptions, structureOf, type Figure } from "./plot_options";

interface Properties {
  figure: Figure;
  data: Aligned;
  height: number;
  onCursor(index: number | null): void;
  /** Reports a click, at the place of the crosshair. */
  onPick(index: number): void;
}

export function Plot({ figure, data, height, onCursor, onPick }: Properties) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const group = useChartGroup();
  const latest = useRef({ figure, onCursor, onPick });
  latest.current = { figure, onCursor, onPick };
  const axis = figure.x.title;
  const structure = structureOf(figure);

  useLayoutEffect(() => {
    const element = host.current!;
    const options = plotOptions(() => latest.current.figure, group.key, {
      onCursor: (index) => latest.current.onCursor(index),
      onSelect: (min, max) => group.show(axis, min, max),
      onReset: () => group.reset(),
      onPick: () => {
        const index = plot.current?.cursor.idx;
        if (index != null) latest.current.onPick(index);
      },
    });
    const built = new uPlot({ ...options, width: element.clientWidth, height }, uplotData(data), element);
    plot.current = built;
    const resize = new ResizeObserver(() => {
      if (element.clientWidth !== built.width) built.setSize({ width: element.clientWidth, height });
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      built.destroy();
      plot.current = null;
    };
  }, [structure, height, group]);

  const { min, max } = group.range(axis) ?? figure.extent ?? extentOf(data.xs);
  useLayoutEffect(() => {
    const shown = plot.current!;
    shown.batch(() => {
      seriesOf(figure.lines).forEach(({ line }, index) => {
        const show = !figure.hidden.has(entryOf(line));
        if (shown.series[index + 1]!.show !== show) shown.setSeries(index + 1, { show });
      });
      shown.setData(uplotData(data), false);
      shown.setScale("x", { min, max });
    });
  }, [
    structure,
    data,
    figure.hidden,
    figure.marks,
    figure.references,
    figure.lit,
    figure.litX,
    min,
    max,
    dark.value,
  ]);

  return <div ref={host} class="plot" />;
}

const uplotData = ({ xs, rows }: Aligned) => [xs, ...rows] as uPlot.AlignedData;

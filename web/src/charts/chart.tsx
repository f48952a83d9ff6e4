// A chart with its title, its legend and, at the reader's choice, its values as a table.
import { useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { ChartMenu } from "./chart_menu";
import { ChartTable } from "./chart_table";
import { useChartGroup } from "./group";
import { useInSight } from "./in_sight";
import { Legend } from "./legend";
import { align, allPositive, type Aligned } from "./line";
import { Plot } from "./plot";
import type { Figure } from "./plot_options";
import "../styles/charts.css";

interface Properties {
  title: string;
  /** The name of the files that the chart is saved as, without their endings. */
  file: string;
  /** The scale is linear if a value is not positive, whatever is asked for; the chart says so. */
  figure: Figure;
  /** What the chart shows in a sentence, for readers who do not see it. */
  summary: string;
  readX(x: number): string;
  /** Reports the place of the crosshair; null: none. */
  onCursor?: (x: number | null) => void;
  /** Reports a click at the values of this x. */
  onPick?: (x: number) => void;
  /** What to show beside an entry of the legend. */
  note?: (id: string) => ComponentChildren;
  onToggle(id: string): void;
  asTable: boolean;
  onTable(asTable: boolean): void;
}

const plotHeight = 226;

export function Chart(properties: Properties) {
  const { title, file, figure: asked, summary, readX, note, onToggle, asTable, onTable } = properties;
  const cursor = useSignal<number | null>(null);
  const body = useRef<HTMLDivElement>(null);
  const inSight = useInSight(body);
  const data = useMemo(() => align(asked.lines), [asked.lines]);
  const positive = useMemo(() => !asked.logarithmic || allPositive(asked.lines), [asked]);
  const figure = positive ? asked : { ...asked, logarithmic: false };
  return (
    <section class="panel chart-panel" aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        {!positive && <span class="muted">linear: not all values are positive</span>}
        <span class="chart-head-end">
          <CursorPosition cursor={cursor} data={data} readX={readX} />
          <button
            type="button"
            class="chart-switch"
            aria-label={`${title} as a table`}
            aria-pressed={asTable}
            onClick={() => onTable(!asTable)}
          >
            Table
          </button>
          <ChartMenu title={title} file={file} figure={figure} data={data} body={body} asTable={asTable} />
        </span>
      </header>
      <div ref={body} class="chart" {...(asTable ? {} : { role: "img", "aria-label": summary })}>
        {inSight &&
          (asTable ? (
            <Values title={title} figure={figure} data={data} />
          ) : (
            <Plot
              figure={figure}
              data={data}
              height={plotHeight}
              onCursor={(index) => {
                if (index === cursor.peek()) return;
                cursor.value = index;
                properties.onCursor?.(index === null ? null : (data.xs[index] ?? null));
              }}
              onPick={(index) => properties.onPick?.(data.xs[index]!)}
            />
          ))}
      </div>
      <Legend figure={figure} data={data} cursor={cursor} note={note} onToggle={onToggle} />
    </section>
  );
}

function Values(properties: { title: string; figure: Figure; data: Aligned }) {
  const range = useChartGroup().range(properties.figure.x.title);
  return <ChartTable {...properties} range={range} />;
}

interface PositionProperties {
  cursor: Signal<number | null>;
  data: Aligned;
  readX(x: number): string;
}

function CursorPosition({ cursor, data, readX }: PositionProperties) {
  const x = cursor.value === null ? undefined : data.xs[cursor.value];
  if (x === undefined) return null;
  return <span class="cursor-position number muted">{readX(x)}</span>;
}

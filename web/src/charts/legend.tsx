// The entries below a chart. Each shows its value at the crosshair, and a click shows or hides its line.
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { entryOf, seriesOf, valueAt, valueText, type Aligned, type Axis, type Marker } from "./line";
import type { Figure } from "./plot_options";

interface Properties {
  figure: Figure;
  data: Aligned;
  cursor: Signal<number | null>;
  note?: ((id: string) => ComponentChildren) | undefined;
  onToggle(id: string): void;
}

export function Legend({ figure, data, cursor, note, onToggle }: Properties) {
  const { hidden } = figure;
  return (
    <div class="legend">
      {seriesOf(figure.lines).map(({ line, ys }, index) =>
        entryOf(line) !== line.id || ys === line.lows ? null : (
          <Entry
            key={line.id}
            label={line.label}
            colour={line.colour}
            shape={line.style.dashed ? "dashed" : (line.style.marker ?? "line")}
            shown={!hidden.has(line.id)}
            onToggle={() => onToggle(line.id)}
          >
            <Reading cursor={cursor} row={data.rows[index]!} axis={figure.y} />
            {note?.(line.id)}
          </Entry>
        ),
      )}
      {figure.references.map(({ id, label, value, colour }) => (
        <Entry
          key={id}
          label={label}
          colour={colour}
          shape="dashed"
          shown={!hidden.has(id)}
          onToggle={() => onToggle(id)}
        >
          <span class="legend-value number">{valueText(figure.y, value)}</span>
        </Entry>
      ))}
    </div>
  );
}

interface EntryProperties {
  label: string;
  colour: string;
  shape: "line" | "dashed" | Marker;
  shown: boolean;
  onToggle(): void;
  children: ComponentChildren;
}

function Entry({ label, colour, shape, shown, onToggle, children }: EntryProperties) {
  return (
    <button
      type="button"
      class="legend-entry"
      aria-pressed={shown}
      title={shown ? "Hide it" : "Show it"}
      onClick={onToggle}
    >
      <span class={`swatch swatch-${shape}`} style={{ color: `var(${colour})` }} aria-hidden="true" />
      <span class="legend-key">{label}</span>
      {children}
    </button>
  );
}

interface ReadingProperties {
  cursor: Signal<number | null>;
  row: readonly (number | null)[];
  axis: Axis;
}

function Reading({ cursor, row, axis }: ReadingProperties) {
  const value = valueAt(row, cursor.value);
  return <span class="legend-value number">{value === null ? "–" : valueText(axis, value)}</span>;
}

// How all charts of a page are drawn: x axis, y scale, smoothing, and which curves differ from their default. In the address.
import type { XAxis } from "../model/series";
import { setParams } from "../state/router";

export interface ChartSettings {
  axis: XAxis;
  logarithmic: boolean;
  /** The weight of the moving average; 0 draws the points as they are. */
  smooth: number;
  /** Curves hidden that are shown by default, and the other way round. */
  flips: ReadonlySet<string>;
}

export function settingsFrom(params: URLSearchParams): ChartSettings {
  const smooth = Number(params.get("smooth") ?? 0);
  return {
    axis: params.get("x") === "time" ? "time" : "step",
    logarithmic: params.get("y") === "log",
    smooth: smooth > 0 && smooth < 1 ? smooth : 0,
    flips: new Set((params.get("flip") ?? "").split(",").filter(Boolean)),
  };
}

export function flipped(flips: ReadonlySet<string>, key: string): string {
  const next = new Set(flips);
  if (!next.delete(key)) next.add(key);
  return [...next].sort().join(",");
}

export function ChartToolbar({ settings }: { settings: ChartSettings }) {
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
    </div>
  );
}

interface ChoiceProperties<Value extends string> {
  label: string;
  value: Value;
  options: [value: Value, title: string][];
  onChange(value: Value): void;
}

export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProperties<Value>) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map(([each, title]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
          {title}
        </button>
      ))}
    </div>
  );
}

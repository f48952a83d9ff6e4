// The controls of how curves are drawn: the scale of their values and their smoothing. Both are in the address.
import { setParams } from "../state/router";
import { Choice } from "../ui/choice";

export interface CurveSettings {
  logarithmic: boolean;
  /** From 0 (off) to 0.98. */
  smooth: number;
}

export function CurveControls({ logarithmic, smooth }: CurveSettings) {
  return (
    <>
      <Choice
        label="Y scale"
        value={logarithmic ? "log" : "linear"}
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
          value={smooth}
          onInput={({ currentTarget: { value } }) => setParams({ smooth: value === "0" ? null : value })}
        />
        <span class="number">{smooth === 0 ? "off" : smooth.toFixed(2)}</span>
      </label>
    </>
  );
}

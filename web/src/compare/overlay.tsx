// The curves of the compared jobs: one chart for each metric, one line for each job, always in the job's colour.
import type { Signal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Comparison, Job } from "../api/types";
import { CurveControls } from "../charts/curve_controls";
import { ChartGroup, ResetZoom } from "../charts/group";
import { useInSight } from "../charts/in_sight";
import type { Axis, Range } from "../charts/line";
import { type CompareAxis, type CompareSettings } from "../model/compare_address";
import { groupingFrom, groupings } from "../model/bands";
import { chartKeys, tokensAStep } from "../model/comparison";
import { elapsedSeconds } from "../model/progress";
import { now } from "../state/clock";
import { setParams } from "../state/router";
import { Button } from "../ui/button";
import { Choice } from "../ui/choice";
import { OverlayChart } from "./overlay_chart";

interface Properties {
  settings: CompareSettings;
  comparison: Comparison;
  live: ReadonlyMap<number, Job>;
  /** The job that the reader points at in the rail. */
  lit: Signal<number | null>;
}

/** Further charts wait for a click, because each costs a request. */
const firstCharts = 12;

const axes: Record<CompareAxis, Axis> = {
  step: { title: "step", numbers: "plain" },
  time: { title: "time since the start", numbers: "duration" },
  tokens: { title: "tokens", numbers: "plain" },
};

export function Overlay({ settings, comparison, live, lit }: Properties) {
  const [all, setAll] = useState(false);
  const tokens = useMemo(() => tokensAStep(comparison), [comparison]);
  const axis = settings.axis === "tokens" && !tokens ? "step" : settings.axis;
  const grouping = useMemo(
    () => groupingFrom(settings.grouping, comparison),
    [settings.grouping, comparison],
  );
  const keys = useMemo(() => chartKeys(comparison, settings.keys), [comparison, settings.keys]);
  const shown = all ? keys : keys.slice(0, firstCharts);
  const jobs = comparison.jobs.map((job) => live.get(job.id) ?? job);
  const max = Math.max(...jobs.map((job) => endOf(job, axis, tokens?.get(job.id) ?? 1)));
  const extent = useMemo<Range>(() => ({ min: 0, max: max > 0 ? max : 1 }), [max]);
  return (
    <section aria-label="Curves">
      <ChartGroup>
        <OverlayToolbar
          settings={settings}
          axis={axis}
          hasTokens={tokens !== null}
          comparison={comparison}
          grouping={grouping}
        />
        <div class="chart-grid">
          {shown.map((key) => (
            <InSight key={key} title={key}>
              <OverlayChart
                metric={key}
                settings={settings}
                comparison={comparison}
                axis={axis}
                x={axes[axis]}
                tokens={tokens}
                extent={extent}
                grouping={grouping}
                lit={lit}
              />
            </InSight>
          ))}
        </div>
      </ChartGroup>
      {keys.length > shown.length && (
        <p class="compare-more">
          <Button onPress={() => setAll(true)}>Show {keys.length - shown.length} more charts</Button>
        </p>
      )}
      {keys.length === 0 && (
        <p class="muted panel-text">
          {settings.keys
            ? `No metric matches "${settings.keys}".`
            : "None of these jobs has recorded a metric yet."}
        </p>
      )}
    </section>
  );
}

function endOf(job: Job, axis: CompareAxis, tokens: number): number {
  if (axis === "time") return elapsedToLastPoint(job);
  return (job.progress?.step ?? 0) * (axis === "tokens" ? tokens : 1);
}

/** Points are at their wall-clock times, so waits between attempts are included. */
function elapsedToLastPoint(job: Job): number {
  if (job.started_ms === null) return 0;
  const end = job.progress?.updated_ms ?? job.ended_ms;
  return end === null ? (elapsedSeconds(job, now.peek()) ?? 0) : (end - job.started_ms) / 1000;
}

interface ToolbarProperties {
  settings: CompareSettings;
  axis: CompareAxis;
  hasTokens: boolean;
  comparison: Comparison;
  grouping: string | null;
}

function OverlayToolbar({ settings, axis, hasTokens, comparison, grouping }: ToolbarProperties) {
  const options: [CompareAxis, string][] = [
    ["step", "Step"],
    ["time", "Time"],
  ];
  if (hasTokens) options.push(["tokens", "Tokens"]);
  return (
    <div class="chart-toolbar">
      <h2>Curves</h2>
      <Choice
        label="X axis"
        value={axis}
        options={options}
        onChange={(value) => setParams({ x: value === "step" ? null : value })}
      />
      <Choice
        label="Values"
        value={settings.difference ? "difference" : "values"}
        options={[
          ["values", "Values"],
          ["difference", `Minus job ${comparison.base}`],
        ]}
        onChange={(value) => setParams({ show: value === "difference" ? value : null })}
      />
      <label class="smooth">
        Curves
        <select
          class="compare-by line-field"
          aria-label="Curves"
          value={grouping ?? "each"}
          onChange={({ currentTarget: { value } }) => setParams({ by: value })}
        >
          <option value="each">one a job</option>
          <option value="all">one band for all</option>
          {groupings(comparison).map((name) => (
            <option key={name} value={name}>
              a band by {name}
            </option>
          ))}
        </select>
      </label>
      <CurveControls logarithmic={settings.logarithmic} smooth={settings.smooth} />
      <input
        class="compare-keys"
        type="text"
        data-filter
        aria-label="Filter metrics"
        placeholder="Metrics, such as eval/*"
        value={settings.keys}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setParams({ keys: event.currentTarget.value })}
      />
      <ResetZoom axis={axes[axis].title} />
    </div>
  );
}

/** What is out of sight asks for nothing; it has its final size. */
function InSight({ title, children }: { title: string; children: preact.ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const seen = useRef(false);
  const inSight = useInSight(place);
  if (inSight) seen.current = true;
  return (
    <div ref={place} class="overlay-place">
      {seen.current ? (
        children
      ) : (
        <div class="panel overlay-shape" aria-label={`${title}, not loaded yet`} role="img" />
      )}
    </div>
  );
}

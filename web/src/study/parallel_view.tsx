// A sweep as parallel coordinates. The line under the pointer or with the focus stands out, and a sentence describes it.
// Arrow keys walk the lines from the best on; Enter opens the job.
import { computed, useSignal, type Signal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { formatCount } from "../format/numbers";
import { outcomeText } from "../model/comparison";
import { parallelOf, type Parallel, type ParallelAxis, type ParallelLine } from "../model/parallel";
import { shortPath } from "../model/study";
import type { Result, SweptAxis, Trial } from "../model/sweep";
import { useWidth } from "../hooks/use_width";
import { route, setParams } from "../state/router";
import { NumberHead, ScrollTable } from "../ui/scroll_table";

interface Properties {
  axes: readonly SweptAxis[];
  trials: readonly Trial[];
  result: Result;
}

const tableName = "parallel";
/** The least width: in a narrower place the drawing scrolls. */
const leastApart = 92;
const margin = 12;
const [top, height, bottom, left, right] = [34, 230, 16, 64, 72] as const;

export function ParallelView({ axes, trials, result }: Properties) {
  const parallel = useMemo(() => parallelOf(axes, trials, result), [axes, trials, result]);
  const lit = useSignal<number | null>(null);
  const asTable = route.value.params.get("table") === tableName;
  const better = result.outcome.better;
  return (
    <section class="panel parallel" aria-label="Parallel coordinates">
      <header class="panel-head">
        <h2>Parallel coordinates</h2>
        <span class="muted">
          one line for each trial{better !== null && ", the best at the head of the last axis"}
          {parallel.without > 0 && `; ${formatCount(parallel.without)} without a result are not drawn`}
        </span>
        <span class="chart-head-end">
          <button
            type="button"
            class="chart-switch"
            aria-label="Parallel coordinates as a table"
            aria-pressed={asTable}
            onClick={() => setParams({ table: asTable ? null : tableName })}
          >
            Table
          </button>
        </span>
      </header>
      {asTable ? (
        <Values axes={axes} parallel={parallel} result={result} />
      ) : (
        <>
          <Drawing parallel={parallel} lit={lit} />
          <LitText parallel={parallel} lit={lit} />
        </>
      )}
    </section>
  );
}

interface DrawnProperties {
  parallel: Parallel;
  /** The job whose line stands out. */
  lit: Signal<number | null>;
}

const steps: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

function Drawing({ parallel: { axes, lines }, lit }: DrawnProperties) {
  const frame = useRef<HTMLDivElement>(null);
  const drawing = useRef<SVGSVGElement>(null);
  const width = Math.max(useWidth(frame), left + right + leastApart * (axes.length - 1));
  const xs = axes.map((_, index) => left + (index * (width - left - right)) / (axes.length - 1));
  const walk = (event: KeyboardEvent) => {
    const step = steps[event.key];
    const links = [...drawing.current!.querySelectorAll<SVGAElement>("a")].reverse();
    const at = links.indexOf(document.activeElement as unknown as SVGAElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    links[(at + step + links.length) % links.length]!.focus();
  };
  return (
    <div ref={frame} class="parallel-frame">
      <svg
        ref={drawing}
        width={width}
        height={top + height + bottom}
        role="group"
        aria-label={`${formatCount(lines.length)} trials, the best first`}
        aria-description="Arrows walk from trial to trial, Enter opens one"
        onKeyDown={walk}
        onFocusOut={() => (lit.value = null)}
      >
        {lines.map((line, index) => (
          <LineView
            key={line.trial.member.job}
            line={line}
            xs={xs}
            lit={lit}
            isFirst={index === lines.length - 1}
          />
        ))}
        {axes.map((axis, index) => (
          <AxisView
            key={axis.name}
            axis={axis}
            x={xs[index]!}
            apart={xs[1]! - xs[0]!}
            isLast={index === axes.length - 1}
          />
        ))}
      </svg>
    </div>
  );
}

const yOf = (at: number) => top + height * (1 - at);

interface LineProperties {
  line: ParallelLine;
  xs: readonly number[];
  lit: Signal<number | null>;
  /** The line that Tab comes to. */
  isFirst: boolean;
}

function LineView({ line: { trial, at, share, text }, xs, lit, isFirst }: LineProperties) {
  const { job } = trial.member;
  const name = trial.rank === 1 ? "parallel-line is-best" : "parallel-line";
  const look = useMemo(
    () => computed(() => (lit.value === null ? name : `${name} ${lit.value === job ? "is-lit" : "is-dim"}`)),
    [job, name, lit],
  );
  const points = at.map((each, index) => `${xs[index]},${yOf(each)}`).join(" ");
  return (
    <a
      href={`#/jobs/${job}`}
      class={look}
      style={share === null ? undefined : { "--share": `${Math.round(100 * share)}%` }}
      tabIndex={isFirst ? 0 : -1}
      aria-label={`job ${job}: ${text}`}
      onFocus={() => (lit.value = job)}
      onPointerEnter={() => (lit.value = job)}
      onPointerLeave={() => (lit.value = null)}
    >
      <polyline class="parallel-hit" points={points} />
      <polyline class="parallel-seen" points={points} />
    </a>
  );
}

/** Longer names are cut; the title of the axis has the whole name. */
const longestTitle = (apart: number) => Math.max(6, Math.min(24, Math.floor(apart / 8)));

interface AxisProperties {
  axis: ParallelAxis;
  x: number;
  /** The distance to the next axis. */
  apart: number;
  isLast: boolean;
}

function AxisView({ axis: { name, title, ticks }, x, apart, isLast }: AxisProperties) {
  const isFirst = x === left;
  const longest = longestTitle(apart);
  const shown = title.length > longest ? `${title.slice(0, longest - 1)}…` : title;
  return (
    <g class="parallel-axis" aria-hidden="true">
      <text
        class="parallel-title"
        x={isFirst ? margin : isLast ? x + right - margin : x}
        y={14}
        text-anchor={isFirst ? "start" : isLast ? "end" : "middle"}
      >
        <title>{name}</title>
        {shown}
      </text>
      <line x1={x} x2={x} y1={top} y2={top + height} />
      {ticks.map(({ at, label }) => (
        <g key={label}>
          <line x1={x - 3} x2={x + 3} y1={yOf(at)} y2={yOf(at)} />
          <text
            x={isFirst ? x - 6 : x + 6}
            y={yOf(at)}
            text-anchor={isFirst ? "end" : "start"}
            dominant-baseline="central"
          >
            {label}
          </text>
        </g>
      ))}
    </g>
  );
}

function LitText({ parallel: { lines }, lit }: DrawnProperties) {
  const line = lines.find(({ trial }) => trial.member.job === lit.value);
  return (
    <p class="panel-text parallel-text" role="status">
      {line ? (
        <>
          <strong>job {line.trial.member.job}</strong> {line.text}
        </>
      ) : (
        <span class="muted">Point at a line, or walk them with the arrows.</span>
      )}
    </p>
  );
}

function Values({
  axes,
  parallel,
  result,
}: {
  axes: readonly SweptAxis[];
  parallel: Parallel;
  result: Result;
}) {
  return (
    <ScrollTable name="Parallel coordinates, their values" looks="" frame="study-members">
      <thead>
        <tr>
          <NumberHead>Job</NumberHead>
          {axes.map(({ path }) => (
            <NumberHead key={path} title={path}>
              {shortPath(path)}
            </NumberHead>
          ))}
          <NumberHead>{result.name}</NumberHead>
        </tr>
      </thead>
      <tbody>
        {[...parallel.lines].reverse().map(({ trial: { member, value, rank } }) => (
          <tr key={member.job} class={rank === 1 ? "is-best" : ""}>
            <th scope="row" class="number">
              <a href={`#/jobs/${member.job}`}>{member.job}</a>
            </th>
            {axes.map(({ path }) => (
              <td key={path} class="number">
                {String(member.parameters[path])}
              </td>
            ))}
            <td class="number">{outcomeText(result.outcome, value)}</td>
          </tr>
        ))}
      </tbody>
    </ScrollTable>
  );
}

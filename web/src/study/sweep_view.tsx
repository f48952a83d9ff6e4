// What a sweep found: the result over each swept parameter, the trials ranked by it, and a grid for two parameters.
import { useMemo } from "preact/hooks";
import type { Study } from "../api/types";
import { Chart } from "../charts/chart";
import { ChartGroup, ResetZoom } from "../charts/group";
import type { Axis, Line } from "../charts/line";
import type { Figure } from "../charts/plot_options";
import { formatCount, formatPlain } from "../format/numbers";
import { useResults } from "../hooks/use_results";
import { compareHash } from "../model/compare_address";
import { outcomeRule, outcomeText } from "../model/comparison";
import { shortPath } from "../model/study";
import {
  gridOf,
  mostTrials,
  placeOn,
  ranked,
  shareOfBest,
  sweptAxes,
  type Result,
  usualResult,
  type SweptAxis,
  type Trial,
} from "../model/sweep";
import { navigate, route, setParams } from "../state/router";
import { AsOf } from "../ui/as_of";
import { JobStateBadge } from "../ui/badges";
import { Info } from "../ui/info";
import { Notice, NotYet } from "../ui/notice";
import { BarHead, NumberHead, ScrollTable } from "../ui/scroll_table";
import { alike, SelectLine } from "../ui/select_line";
import { ParallelView } from "./parallel_view";

const none: ReadonlySet<string> = new Set();

export function SweepView({ study }: { study: Study }) {
  const { params } = route.value;
  const members = useMemo(() => study.members.slice(0, mostTrials), [study]);
  const shown = useResults(
    study.id,
    members.map(({ job }) => job),
    study.state === "running",
  );
  const axes = useMemo(() => sweptAxes({ members }), [members]);
  const results = shown.data;
  const usual = results ? usualResult(results) : undefined;
  const result = results?.find(({ name }) => name === params.get("result")) ?? usual;
  const trials = useMemo(() => ranked(members, result), [members, result]);
  if (!results) return <NotYet what="the results" shown={shown} />;
  if (!result || !usual)
    return (
      <Notice kind="empty" title="No results yet">
        None of its jobs has started.
      </Notice>
    );
  return (
    <>
      <div class="chart-toolbar">
        <SelectLine
          title="Result"
          value={result.name}
          options={alike(results.map(({ name }) => name))}
          onChange={(value) => setParams({ result: value === usual?.name ? null : value })}
        />
        <Info of={result.name}>{outcomeRule(result.outcome)}.</Info>
        {study.members.length > members.length && (
          <span class="warn">
            the first {formatCount(members.length)} of {formatCount(study.members.length)} trials
          </span>
        )}
        <AsOf shown={shown} />
      </div>
      {axes.length > 1 && result.values.size > 0 && (
        <ParallelView axes={axes} trials={trials} result={result} />
      )}
      <OverParameters study={study} axes={axes} trials={trials} result={result} />
      {axes.length === 2 && <Grid axes={[axes[0]!, axes[1]!]} trials={trials} result={result} />}
      {study.asha === null && <Ranking trials={trials} result={result} axes={axes} />}
    </>
  );
}

interface ViewProperties {
  axes: readonly SweptAxis[];
  trials: readonly Trial[];
  result: Result;
}

function OverParameters({ study, axes, trials, result }: ViewProperties & { study: Study }) {
  const table = route.value.params.get("table");
  const figures = useMemo(() => axes.map((axis) => figureOf(axis, trials, result)), [axes, trials, result]);
  if (axes.length === 0) return null;
  const open = (axis: SweptAxis, x: number) => {
    const there = trials.filter((trial) => trial.value !== null && placeOn(axis, trial.member) === x);
    const jobs = there.map(({ member }) => member.job);
    if (jobs.length > 0) navigate(jobs.length === 1 ? `#/jobs/${jobs[0]}` : compareHash(jobs));
  };
  return (
    <section class="study-charts" aria-label="Charts">
      {axes.map((axis, index) => (
        <ChartGroup key={axis.path}>
          <Chart
            title={`${result.name} over ${shortPath(axis.path)}`}
            file={`study-${study.id}-${shortPath(axis.path)}`}
            figure={figures[index]!}
            summary={`${result.name} over ${axis.path}: ${trials.length} trials`}
            readX={(x) => (axis.numeric ? formatPlain(x) : String(axis.values[x]))}
            onPick={(x) => open(axis, x)}
            onToggle={() => undefined}
            asTable={table === axis.path}
            onTable={(on) => setParams({ table: on ? axis.path : null })}
          />
          <ResetZoom axis={axis.path} />
        </ChartGroup>
      ))}
    </section>
  );
}

function figureOf(axis: SweptAxis, trials: readonly Trial[], result: Result): Figure {
  const points = trials.flatMap((trial) => {
    const x = placeOn(axis, trial.member);
    return x === null || trial.value === null ? [] : [{ x, y: trial.value, best: trial.rank === 1 }];
  });
  points.sort((a, b) => a.x - b.x);
  const line = (id: string, label: string, colour: string, of: typeof points): Line => ({
    id,
    label,
    colour,
    style: { kind: "scatter", marker: "dot" },
    xs: of.map(({ x }) => x),
    ys: of.map(({ y }) => y),
  });
  const best = points.filter((point) => point.best);
  const ticks = axis.values.map((value, place) =>
    axis.numeric ? { at: value as number } : { at: place, label: String(value) },
  );
  const x: Axis = { title: axis.path, numbers: "plain", ticks, ...(axis.logarithmic ? { base: 10 } : {}) };
  return {
    lines: [
      line(
        "trials",
        "trials",
        "--muted",
        points.filter((point) => !point.best),
      ),
      ...(best.length > 0 ? [line("best", "best", "--accent", best)] : []),
    ],
    references: [],
    marks: [],
    x,
    y: { title: result.name, numbers: /time/i.test(result.outcome.measure) ? "duration" : "plain" },
    logarithmic: false,
    hidden: none,
    extent: extentOf(axis, ticks[0]!.at, ticks.at(-1)!.at),
  };
}

/** With room beside the first and the last value. */
function extentOf({ logarithmic }: SweptAxis, min: number, max: number) {
  if (logarithmic) return { min: min / (max / min) ** 0.06, max: max * (max / min) ** 0.06 };
  return { min: min - (max - min) * 0.06, max: max + (max - min) * 0.06 };
}

interface GridProperties extends Omit<ViewProperties, "axes"> {
  axes: readonly [SweptAxis, SweptAxis];
}

function Grid({ axes, trials, result }: GridProperties) {
  const cells = gridOf(axes, trials);
  const [down, across] = axes;
  const known = result.outcome.better !== null;
  return (
    <section class="panel" aria-label="Grid">
      <header class="panel-head">
        <h2>
          {result.name}: {shortPath(down.path)} by {shortPath(across.path)}
        </h2>
        <span class="muted">the mean where there are several trials</span>
      </header>
      <ScrollTable name="Grid as a table" looks="study-grid">
        <thead>
          <tr>
            <th scope="col">
              {shortPath(down.path)} \ {shortPath(across.path)}
            </th>
            {across.values.map((value) => (
              <NumberHead key={String(value)}>{String(value)}</NumberHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((row, index) => (
            <tr key={String(down.values[index])}>
              <th scope="row" class="number">
                {String(down.values[index])}
              </th>
              {row.map((cell, column) => (
                <td
                  key={String(across.values[column])}
                  class="number study-cell"
                  style={
                    cell && known
                      ? { "--share": String(Math.round(30 * shareOfBest(cell.value, trials))) }
                      : undefined
                  }
                >
                  {cell ? outcomeText(result.outcome, cell.value) : <span class="muted">–</span>}
                  {cell && cell.jobs.length > 1 && <span class="muted"> of {cell.jobs.length}</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

const curvesAtOnce = 10;

function Ranking({ trials, result, axes }: ViewProperties) {
  const best = trials.filter(({ value }) => value !== null).slice(0, curvesAtOnce);
  const known = result.outcome.better !== null;
  return (
    <section class="panel" aria-label="Trials">
      <header class="panel-head">
        <h2>Trials</h2>
        <span class="muted">{known ? "the best first" : "no target and no name says which is better"}</span>
        {best.length > 1 && (
          <a href={compareHash(best.map(({ member }) => member.job))}>
            Compare {known ? `the best ${best.length}` : `the first ${best.length}`}
          </a>
        )}
      </header>
      <ScrollTable name="Trials as a table" looks="cards" frame="study-members">
        <thead>
          <tr>
            <th scope="col">Trial</th>
            <th scope="col">State</th>
            {axes.map(({ path }) => (
              <NumberHead key={path} title={path}>
                {shortPath(path)}
              </NumberHead>
            ))}
            <NumberHead>{result.name}</NumberHead>
            <BarHead />
          </tr>
        </thead>
        <tbody>
          {trials.map((trial) => (
            <TrialRow key={trial.member.job} trial={trial} trials={trials} result={result} axes={axes} />
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

function TrialRow({ trial, trials, result, axes }: ViewProperties & { trial: Trial }) {
  const { member, value, rank } = trial;
  return (
    <tr class={rank === 1 ? "is-best" : ""}>
      <th scope="row">
        {rank !== null && <span class="study-rank number">{rank}</span>}{" "}
        <a href={`#/jobs/${member.job}`}>
          <span class="number">{member.job}</span> {member.name}
        </a>
        {member.seed !== null && <span class="tag">seed {member.seed}</span>}
        {member.artificial && <span class="tag tag-warn">artificial devices</span>}
      </th>
      <td class="study-state">
        <JobStateBadge state={member.state} />
      </td>
      {axes.map(({ path }) => (
        <td key={path} class="number" data-title={shortPath(path)}>
          {path in member.parameters ? String(member.parameters[path]) : "–"}
        </td>
      ))}
      <td class="number study-result" data-title={result.name}>
        {value === null ? (
          <span class="muted">{member.reason || "–"}</span>
        ) : (
          outcomeText(result.outcome, value)
        )}
      </td>
      <td class="study-bar" aria-hidden="true">
        {value !== null && rank !== null && (
          <span style={{ width: `${Math.max(2, 100 * shareOfBest(value, trials))}%` }} />
        )}
      </td>
    </tr>
  );
}

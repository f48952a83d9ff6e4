// The record board: each benchmark with its records, how they fell, and all runs with their origin.
import { useMemo } from "preact/hooks";
import type { Benchmark, BenchmarkDetails } from "../api/types";
import { BenchmarkList } from "../board/benchmark_list";
import { BoardFilters } from "../board/board_filters";
import { PublishedChoice } from "../board/published_choice";
import { PublishedTable } from "../board/published_table";
import { RecordTable } from "../board/record_table";
import { RunTable } from "../board/run_table";
import { formatCount } from "../format/numbers";
import { formatDuration } from "../format/times";
import { useBenchmark, useBoard } from "../hooks/use_board";
import { usePublished } from "../hooks/use_study";
import { useTitle } from "../hooks/use_title";
import { classKey, commitText, fastest, holderOf, runsText } from "../model/board";
import {
  boardChoices,
  boardFilter,
  type BoardFilter,
  filtered,
  filteredDetails,
  isFiltered,
} from "../model/board_filter";
import { toYaml } from "../model/yaml";
import { formatHash, route, withParams } from "../state/router";
import { AsOf } from "../ui/as_of";
import { Info } from "../ui/info";
import { lazy } from "../ui/lazy";
import { Notice, NotYet } from "../ui/notice";
import { Ago } from "../ui/times";
import "../styles/board.css";

const loading = <Notice kind="loading" title="Loading the chart…" />;
const RecordChart = lazy(async () => (await import("../board/record_chart")).RecordChart, loading);

export function BoardPage() {
  const shown = useBoard();
  const { params } = route.value;
  const filter = useMemo(() => boardFilter(params), [params]);
  const all = shown.data;
  const benchmarks = useMemo(() => all && filtered(all, filter), [all, filter]);
  const chosen = params.get("benchmark") ?? benchmarks?.[0]?.id;
  return (
    <div class="page board-page">
      <header class="page-header">
        <h1>Board</h1>
        {all && benchmarks && all.length > 0 && (
          <span class="muted">
            {benchmarks.length < all.length && `${formatCount(benchmarks.length)} of `}
            {formatCount(all.length)} {all.length === 1 ? "benchmark" : "benchmarks"}
          </span>
        )}
        <Info of="a record">
          Runs of one benchmark share the model, the task, the data, the held-out data and the target, so
          their times to train can be compared. A time runs from the first start of the job to the target and
          includes restarts and the waits between them. A run sets no record if its devices were artificial or
          of several kinds or numbers, or if it shared nodes with other jobs.
        </Info>
        <AsOf shown={shown} />
      </header>
      {all && <BoardFilters choices={boardChoices(all, filter)} isFiltered={isFiltered(filter)} />}
      {!all || !benchmarks ? (
        <NotYet what="the board" shown={shown} />
      ) : chosen === undefined && all.length > 0 ? (
        <Notice kind="empty" title="No benchmark matches these filters">
          Choose fewer filters above.
        </Notice>
      ) : chosen === undefined ? (
        <Notice kind="empty" title="No run has reached a target yet">
          Jobs that reach the <code>target:</code> of their spec appear here.{" "}
          <a href="#/submit">Submit one</a>.
        </Notice>
      ) : (
        <div class="rail-columns">
          <BenchmarkList benchmarks={benchmarks} shown={chosen} hrefOf={hrefOf} nowMs={shown.at} />
          <Shown key={chosen} id={chosen} benchmarks={all} filter={filter} />
        </div>
      )}
    </div>
  );
}

const hrefOf = (id: string) =>
  formatHash(withParams(route.value, { benchmark: id, hide: null, table: null }));

interface ShownProperties {
  id: string;
  benchmarks: readonly Benchmark[];
  filter: BoardFilter;
}

function Shown({ id, benchmarks, filter }: ShownProperties) {
  const shown = useBenchmark(id);
  const whole = shown.data;
  const board = useMemo(() => whole && filteredDetails(whole, filter), [whole, filter]);
  useTitle(board && `${board.name} · Board`);
  if (!whole || !board)
    return shown.notFound ? (
      <Notice kind="empty" title="There is no such benchmark">
        {benchmarks.length > 0 ? "Choose one from the list." : "No run has reached a target yet."}
      </Notice>
    ) : (
      <NotYet what="the benchmark" shown={shown} />
    );
  return (
    <div class="rail-main">
      <header class="page-header">
        <h2>{board.name}</h2>
        <span class="muted">
          {runsText(whole)}
          {board.all.length < whole.all.length && `; ${formatCount(board.all.length)} shown`}
        </span>
        <AsOf shown={shown} />
      </header>
      <Headline board={board} hasOthers={whole.classes.length > 0} />
      <Details board={board} nowMs={shown.at} />
    </div>
  );
}

/** The fastest record in large type, with the commit behind it. */
function Headline({ board, hasOthers }: { board: BenchmarkDetails; hasOthers: boolean }) {
  const best = fastest(board.classes);
  if (!best)
    return hasOthers ? (
      <Notice kind="empty" title="No run on these devices has set a record">
        Runs on other devices have.
      </Notice>
    ) : (
      <Notice kind="empty" title="No run qualifies for a record yet">
        The runs that reached the target are below, each with the reason.
      </Notice>
    );
  const holder = holderOf(best);
  const run = board.all.find(({ job }) => job === holder.job);
  return (
    <p class="board-headline">
      <strong class="number">{formatDuration(holder.seconds)}</strong> on {classKey(best)}, by{" "}
      <a href={`#/jobs/${holder.job}`}>job {holder.job}</a>, <Ago ms={holder.reached_ms} />
      <span class="muted"> · commit {commitText(run?.source ?? null) ?? "not recorded"}</span>
    </p>
  );
}

function Details({ board, nowMs }: { board: BenchmarkDetails; nowMs: number }) {
  const all = usePublished();
  const name = route.value.params.get("published");
  const published = useMemo(
    () => (all.data ?? []).filter(({ benchmark }) => benchmark === name),
    [all.data, name],
  );
  return (
    <>
      <div class="chart-toolbar">
        <PublishedChoice rows={all.data ?? []} benchmark={name} />
        {all.error && (
          <span class="error-text" role="alert">
            The published results could not be loaded: {all.error}
          </span>
        )}
      </div>
      {board.classes.length > 0 && <RecordChart board={board} published={published} nowMs={nowMs} />}
      {board.classes.length > 0 && <RecordTable classes={board.classes} />}
      {published.length > 0 && <PublishedTable rows={published} />}
      <RunTable board={board} />
      <details class="panel board-identity">
        <summary>What its runs have in common</summary>
        <pre class="code" tabIndex={0} aria-label="What its runs have in common">
          {toYaml(board.identity)}
        </pre>
      </details>
    </>
  );
}

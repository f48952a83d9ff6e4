// The chart of a benchmark's records. The address says which lines are hidden and whether the chart is a table.
import { useMemo } from "preact/hooks";
import type { BenchmarkDetails, PublishedRow } from "../api/types";
import { Chart } from "../charts/chart";
import { ChartGroup, ResetZoom } from "../charts/group";
import { formatMoment } from "../format/times";
import { navigate, route, setParams } from "../state/router";
import { axisTitle, recordFigure, summaryOf } from "./record_figure";

interface Properties {
  board: BenchmarkDetails;
  published: readonly PublishedRow[];
  nowMs: number;
}

const separator = ";";

export function RecordChart({ board, published, nowMs }: Properties) {
  const { params } = route.value;
  const hide = params.get("hide") ?? "";
  const hidden = useMemo(() => new Set(hide.split(separator).filter(Boolean)), [hide]);
  const figure = useMemo(() => recordFigure(board, published, nowMs), [board, published, nowMs]);
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setParams({ hide: [...next].join(separator) });
  };
  const open = (x: number) => {
    const run = board.all.find(({ reached_ms }) => reached_ms === x);
    if (run) navigate(`#/jobs/${run.job}`);
  };
  return (
    <ChartGroup>
      <Chart
        title="Records over time"
        file={board.id}
        figure={{ ...figure, hidden }}
        summary={summaryOf(board)}
        readX={(x) => formatMoment(x, nowMs)}
        onPick={open}
        onToggle={toggle}
        asTable={params.get("table") === "records"}
        onTable={(on) => setParams({ table: on ? "records" : null })}
      />
      <ResetZoom axis={axisTitle} />
    </ChartGroup>
  );
}

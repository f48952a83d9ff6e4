// Goodput by day: the share of device time that moved training forward.
import { useMemo } from "preact/hooks";
import type { LedgerTable } from "../api/types";
import { Chart } from "../charts/chart";
import { ChartGroup, ResetZoom } from "../charts/group";
import type { Figure } from "../charts/plot_options";
import { formatShare } from "../format/numbers";
import { dayMs, formatDay } from "../format/times";
import { goodputDays } from "../model/overview";
import { route, setParams } from "../state/router";

const axisTitle = "day (UTC)";
/** Room beside the first and the last day for their names. */
const roomMs = 0.6 * dayMs;
const none: ReadonlySet<string> = new Set();

export function GoodputChart({ ledger }: { ledger: LedgerTable }) {
  const days = useMemo(() => goodputDays(ledger), [ledger]);
  const figure = useMemo<Figure>(
    () => ({
      lines: [
        {
          id: "goodput",
          label: "goodput",
          colour: "--series-2",
          style: { kind: "line", marker: "dot" },
          xs: days.map(({ atMs }) => atMs),
          ys: days.map(({ goodput }) => 100 * goodput),
        },
      ],
      references: [],
      marks: [],
      x: {
        title: axisTitle,
        numbers: "date",
        ticks: days.map(({ atMs }) => ({ at: atMs, label: formatDay(atMs) })),
      },
      y: { title: "goodput", unit: "%", numbers: "plain", holds: { min: 0, max: 100 } },
      logarithmic: false,
      hidden: none,
      ...(days.length > 0
        ? { extent: { min: days[0]!.atMs - roomMs, max: days.at(-1)!.atMs + roomMs } }
        : {}),
    }),
    [days],
  );
  const texts = days.map(({ atMs, goodput }) => `${formatDay(atMs)} ${formatShare(goodput)}`);
  return (
    <ChartGroup>
      <Chart
        title="Goodput by day"
        file="goodput"
        figure={figure}
        summary={`Goodput by day: ${texts.join(", ") || "not known for any day"}`}
        readX={formatDay}
        onToggle={() => undefined}
        asTable={route.value.params.get("table") === "goodput"}
        onTable={(on) => setParams({ table: on ? "goodput" : null })}
      />
      <ResetZoom axis={axisTitle} />
    </ChartGroup>
  );
}

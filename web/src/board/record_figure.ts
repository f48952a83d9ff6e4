// How the records of a benchmark fell: a step curve for each class of devices, other runs as grey dots, published results as
// dashed lines. Runs that may set no record are not drawn, because their times are not comparable.
import type { BenchmarkDetails, BoardClass, PublishedRow } from "../api/types";
import { colourAt, type Line, type Reference } from "../charts/line";
import type { Figure } from "../charts/plot_options";
import { formatDuration } from "../format/times";
import { classKey, fallText, standingOf } from "../model/board";
import { publishedPlace } from "../model/study";

export const axisTitle = "target reached";
/** Further classes are dashed (charts/line.ts). */
const colours = 8;
/** If records span more than this factor, the axis of time is logarithmic. */
const wide = 4;

export function recordFigure(
  board: BenchmarkDetails,
  published: readonly PublishedRow[],
  nowMs: number,
): Omit<Figure, "hidden"> {
  const slower = board.all.filter((run) => standingOf(run, board.classes).kind === "slower");
  slower.sort((a, b) => a.reached_ms - b.reached_ms);
  const references = publishedReferences(published);
  const seconds = [
    ...board.classes.flatMap(({ records }) => records.map((record) => record.seconds)),
    ...slower.map((run) => run.seconds),
    ...references.map(({ value }) => value),
  ];
  const firstMs = Math.min(...board.classes.map(({ records }) => records[0]!.reached_ms), nowMs - 1);
  const from = Math.min(firstMs, slower[0]?.reached_ms ?? firstMs);
  const room = 0.03 * (nowMs - from);
  return {
    lines: [
      ...(slower.length > 0
        ? [
            {
              id: "slower",
              label: "slower runs",
              colour: "--muted",
              style: { kind: "scatter", marker: "dot" } as const,
              xs: slower.map(({ reached_ms }) => reached_ms),
              ys: slower.map((run) => run.seconds),
            },
          ]
        : []),
      ...board.classes.flatMap((each, place) => classLines(each, place, nowMs)),
    ],
    references,
    marks: [],
    x: { title: axisTitle, numbers: "date" },
    y: { title: "time to train", numbers: "duration" },
    logarithmic: seconds.length > 0 && Math.max(...seconds) / Math.min(...seconds) >= wide,
    extent: { min: from - room, max: nowMs + room },
  };
}

/** The step curve continues to today and marks its records. */
function classLines(of: BoardClass, place: number, nowMs: number): Line[] {
  const { records } = of;
  const id = classKey(of);
  const xs = records.map(({ reached_ms }) => reached_ms);
  const ys = records.map(({ seconds }) => seconds);
  const colour = colourAt(place);
  return [
    {
      id,
      label: id,
      colour,
      style: { kind: "steps", dashed: place >= colours, drawnOnly: true },
      xs: [...xs, Math.max(nowMs, xs.at(-1)!)],
      ys: [...ys, ys.at(-1)!],
    },
    {
      id: `records ${id}`,
      of: id,
      label: id,
      colour,
      style: { kind: "scatter", marker: "dot" },
      xs,
      ys,
      notes: records.map((record) => (record.improvement === null ? "" : fallText(record))),
    },
  ];
}

/** Only for times: a rate is not a time to train. */
function publishedReferences(rows: readonly PublishedRow[]): Reference[] {
  return rows.flatMap((row, index) => {
    const place = publishedPlace(row, "samples");
    if (place?.measure !== "time") return [];
    return [
      {
        id: `published ${index}`,
        label: `published: ${row.devices} × ${row.hardware}, ${row.date.slice(0, 4)}`,
        value: place.value,
        colour: "--muted",
      },
    ];
  });
}

export function summaryOf({ classes }: BenchmarkDetails): string {
  const parts = classes.map((each) => {
    const steps = each.records.map(({ seconds }) => formatDuration(seconds)).join(", then ");
    return `${classKey(each)}: ${steps}`;
  });
  return `Records over time. ${parts.join("; ") || "There is no record yet"}`;
}

// How a training scales: three charts over devices, the figures in a table, and what the time to train is made of.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { PublishedRow, Study } from "../api/types";
import { Chart } from "../charts/chart";
import { ChartGroup, ResetZoom } from "../charts/group";
import { compareHash } from "../model/compare_address";
import { devicesText, rateUnit } from "../model/study";
import { navigate, route, setParams } from "../state/router";
import { studyFigures } from "./figures";
import { Identity } from "./identity";
import { ScalingRows } from "./scaling_rows";

interface Properties {
  study: Study;
  published: readonly PublishedRow[];
}

const readSet = (text: string | null) => new Set((text ?? "").split(";").filter(Boolean));

function toggled(set: ReadonlySet<string>, name: string): string {
  const next = new Set(set);
  if (!next.delete(name)) next.add(name);
  return [...next].join(";");
}

export function ScalingView({ study, published }: Properties) {
  const { params } = route.value;
  const unit = rateUnit(study);
  const [hide, table] = [params.get("hide"), params.get("table")];
  const hidden = useMemo(() => readSet(hide), [hide]);
  const tables = useMemo(() => readSet(table), [table]);
  const figures = useMemo(() => studyFigures(study, published, unit), [study, published, unit]);
  /** The number of devices at the crosshair or of the highlighted row. */
  const lit = useSignal<number | null>(null);
  const open = (devices: number) => {
    const jobs = study.tables.flatMap(({ rows }) =>
      rows.flatMap((row) => (row.devices === devices ? row.jobs : [])),
    );
    if (jobs.length > 0) navigate(jobs.length === 1 ? `#/jobs/${jobs[0]}` : compareHash(jobs));
  };
  return (
    <>
      <section aria-label="Charts">
        <ChartGroup>
          <div class="chart-toolbar">
            <ResetZoom axis="devices" />
          </div>
          <div class="study-charts">
            {figures.map(({ measure, title, figure, summary }) => (
              <Chart
                key={measure}
                title={title}
                file={`study-${study.id}-${measure}`}
                figure={{ ...figure, hidden, litX: lit.value }}
                summary={summary}
                readX={(x) => devicesText(x)}
                onCursor={(x) => {
                  lit.value = x;
                }}
                onPick={open}
                onToggle={(id) => setParams({ hide: toggled(hidden, id) })}
                asTable={tables.has(measure)}
                onTable={() => setParams({ table: toggled(tables, measure) })}
              />
            ))}
          </div>
        </ChartGroup>
      </section>
      <ScalingRows study={study} published={published} unit={unit} lit={lit} />
      <Identity study={study} />
    </>
  );
}

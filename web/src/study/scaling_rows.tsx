// The figures of every size, and published results beside them: tinted, tagged, with their source.
import type { Signal } from "@preact/signals";
import { Fragment, type ComponentChildren } from "preact";
import type { PublishedRow, ScalingRow, ScalingTable, Study } from "../api/types";
import { formatNumber, formatPercent, formatPlain } from "../format/numbers";
import { formatDuration } from "../format/times";
import {
  missingSizes,
  parametersText,
  publishedPlace,
  publishedTags,
  publishedValue,
  rateOf,
  timeSpread,
  type MissingSize,
  type RateUnit,
} from "../model/study";
import { JobStateBadge } from "../ui/badges";
import { Info } from "../ui/info";
import { NumberHead, ScrollTable } from "../ui/scroll_table";

interface Properties {
  study: Study;
  published: readonly PublishedRow[];
  unit: RateUnit;
  lit: Signal<number | null>;
}

interface Entry {
  devices: number;
  key: string;
  row: ComponentChildren;
}

const columns = 10;

export function ScalingRows(properties: Properties) {
  const { study, published, unit, lit } = properties;
  const entries: Entry[] = [
    ...study.tables.flatMap((table, place) => [
      ...table.rows.map((row) => ({
        devices: row.devices,
        key: `own ${place} ${row.devices}`,
        row: <OwnRow {...properties} table={table} row={row} />,
      })),
      ...missingSizes(study, table).map((size) => ({
        devices: size.devices,
        key: `missing ${place} ${size.devices}`,
        row: <MissingRow size={size} table={table} lit={lit} />,
      })),
    ]),
    ...published.map((row, index) => ({
      devices: row.devices,
      key: `published ${index}`,
      row: <OtherRow row={row} unit={unit} lit={lit} />,
    })),
  ].sort((a, b) => a.devices - b.devices);
  return (
    <section class="panel" aria-label="Sizes">
      <header class="panel-head">
        <h2>Sizes</h2>
        <span class="muted">figures are medians over the points after a run's first tenth</span>
        <Info of="efficiency">
          Efficiency = (throughput / devices) / (throughput of the base / its devices). The base is the
          smallest size that has ended and reported its throughput. Runs of one size are taken together.
          Whiskers in the charts show the quartiles of throughput, and the fastest and the slowest time.
        </Info>
      </header>
      <ScrollTable name="Sizes as a table" looks="cards study-sizes">
        <thead>
          <tr>
            <th scope="col">Devices</th>
            <NumberHead>{unit === "samples" ? "Samples/s" : "Tokens/s"}</NumberHead>
            <NumberHead>A device</NumberHead>
            <NumberHead>Speed-up</NumberHead>
            <NumberHead>Efficiency</NumberHead>
            <NumberHead>Time to train</NumberHead>
            <NumberHead>Stepping</NumberHead>
            <NumberHead>Evaluating, saving</NumberHead>
            <NumberHead>MFU</NumberHead>
            <th scope="col">Jobs</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ key, row }) => (
            <Fragment key={key}>{row}</Fragment>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}

/** A row highlights its points in the charts, and the crosshair of the charts highlights the row. */
const linked = (lit: Signal<number | null>, devices: number, more = "") => ({
  class: `${more}${lit.value === devices ? " is-lit" : ""}`.trim(),
  onPointerEnter: () => {
    lit.value = devices;
  },
  onPointerLeave: () => {
    lit.value = null;
  },
});

function Figure({ title, children }: { title: string; children: ComponentChildren }) {
  const none = children === null || children === false;
  return (
    <td class={none ? "number is-none" : "number"} data-title={title}>
      {none ? <span class="muted">–</span> : children}
    </td>
  );
}

const percentOf = (share: number | null) => share !== null && formatPercent(share);

function OwnRow({ study, table, row, unit, lit }: Properties & { table: ScalingTable; row: ScalingRow }) {
  const rate = rateOf(row, unit);
  const spread = timeSpread(study, row);
  const members = study.members.filter(({ job }) => row.jobs.includes(job));
  const [evaluating, saving] = [row.evaluation_share, row.checkpoint_share];
  return (
    <tr {...linked(lit, row.devices)}>
      <th scope="row">
        <strong class="number">{row.devices}</strong>{" "}
        <span class="muted">{parametersText(table.parameters)}</span>
        {row.devices === table.base && <span class="tag">base</span>}
        {row.so_far && <span class="tag">so far</span>}
        {members.some(({ artificial }) => artificial) && <span class="tag tag-warn">artificial devices</span>}
        {members.some(({ restarts }) => restarts > 0) && <span class="tag">restarted</span>}
      </th>
      <Figure title={unit === "samples" ? "Samples/s" : "Tokens/s"}>
        {rate && (
          <span
            title={`quartiles ${formatNumber(rate.low)} and ${formatNumber(rate.high)} of ${rate.points} points`}
          >
            {formatNumber(rate.median)}
          </span>
        )}
      </Figure>
      <Figure title="A device">{row.per_device !== null && formatNumber(row.per_device)}</Figure>
      <Figure title="Speed-up">{row.speed_up !== null && `${formatNumber(row.speed_up, 3)}×`}</Figure>
      <Figure title="Efficiency">
        {row.efficiency !== null && <strong>{formatPercent(row.efficiency, 1)}</strong>}
      </Figure>
      <Figure title="Time to train">
        {row.time_to_train_seconds !== null && (
          <>
            {formatDuration(row.time_to_train_seconds)}
            {row.reached > 1 && (
              <span
                class="muted"
                title={spread ? `${formatDuration(spread.low)} to ${formatDuration(spread.high)}` : ""}
              >
                {" "}
                of {row.reached} runs
              </span>
            )}
          </>
        )}
      </Figure>
      <Figure title="Stepping">{percentOf(row.stepping_share)}</Figure>
      <Figure title="Evaluating, saving">
        {(evaluating !== null || saving !== null) &&
          [evaluating, saving].map((share) => (share === null ? "–" : formatPercent(share, 1))).join(", ")}
      </Figure>
      <Figure title="MFU">{percentOf(row.mfu)}</Figure>
      <td data-title="Jobs">
        <JobLinks jobs={row.jobs} />
      </td>
    </tr>
  );
}

function JobLinks({ jobs }: { jobs: readonly number[] }) {
  return (
    <span class="study-jobs">
      {jobs.map((job) => (
        <a key={job} href={`#/jobs/${job}`} class="number">
          {job}
        </a>
      ))}
    </span>
  );
}

function MissingRow({
  size,
  table,
  lit,
}: {
  size: MissingSize;
  table: ScalingTable;
  lit: Signal<number | null>;
}) {
  const reason = size.members.find((member) => member.state === size.state && member.reason !== "")?.reason;
  return (
    <tr {...linked(lit, size.devices)}>
      <th scope="row">
        <strong class="number">{size.devices}</strong>{" "}
        <span class="muted">{parametersText(table.parameters)}</span>
      </th>
      <td colSpan={columns - 2} class="study-missing">
        <JobStateBadge state={size.state} /> <span class="muted">{reason ?? "no figures yet"}</span>
      </td>
      <td data-title="Jobs">
        <JobLinks jobs={size.members.map(({ job }) => job)} />
      </td>
    </tr>
  );
}

function OtherRow({ row, unit, lit }: { row: PublishedRow; unit: RateUnit; lit: Signal<number | null> }) {
  const place = publishedPlace(row, unit)?.measure;
  const [rate, efficiency, time] = (["rate", "efficiency", "time"] as const).map((measure) =>
    place === measure ? publishedValue(row) : null,
  );
  return (
    <tr {...linked(lit, row.devices, "is-published")}>
      <th scope="row">
        <strong class="number">{formatPlain(row.devices)}</strong> <span class="tag">published</span>{" "}
        {publishedTags(row).map((tag) => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
        {place === undefined && <span class="study-value">{publishedValue(row)}</span>}
      </th>
      <Figure title={unit === "samples" ? "Samples/s" : "Tokens/s"}>{rate}</Figure>
      <Figure title="A device">{null}</Figure>
      <Figure title="Speed-up">{null}</Figure>
      <Figure title="Efficiency">{efficiency}</Figure>
      <Figure title="Time to train">{time}</Figure>
      <td colSpan={4} class="study-source">
        {row.what}, <Source row={row} />
        {row.note && <span class="muted"> ({row.note})</span>}
      </td>
    </tr>
  );
}

function Source({ row }: { row: PublishedRow }) {
  if (row.url === null) return <span title={row.file}>{row.source}</span>;
  return (
    <a href={row.url} rel="noreferrer noopener" target="_blank" title={row.url}>
      {row.source}
    </a>
  );
}

// The start page: whether the cluster does useful work, what waits, and what needs attention.
import { useMemo } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { LedgerTable, Queue } from "../api/types";
import { formatCount, formatShare } from "../format/numbers";
import { formatDuration } from "../format/times";
import { coarseNow } from "../state/clock";
import { useInterval } from "../hooks/use_interval";
import { useNodes } from "../hooks/use_lists";
import { useLedgerDays, useNewestFailed, useWaiting } from "../hooks/use_overview";
import type { Shown } from "../hooks/use_query";
import { useSpecs } from "../hooks/use_specs";
import { goodputRule, ledgerKinds, partsOf, tableSentence } from "../model/ledger";
import { summarise } from "../model/node_list";
import { apartHidden, attentionOf, nextStarts, waitingOf } from "../model/overview";
import { AttentionList } from "../overview/attention_list";
import { ClusterMap } from "../overview/cluster_map";
import { hiddenUntil } from "../state/hidden";
import { route, setParams } from "../state/router";
import { nodes } from "../state/store";
import { AsOf } from "../ui/as_of";
import { Choice } from "../ui/choice";
import { Info } from "../ui/info";
import { lazy } from "../ui/lazy";
import { LedgerBar, LedgerKey } from "../ui/ledger_bar";
import { Notice, NotYet } from "../ui/notice";
import "../styles/overview.css";

const loading = <Notice kind="loading" title="Loading the chart…" />;
const GoodputChart = lazy(async () => (await import("../overview/goodput_chart")).GoodputChart, loading);

const nodesMs = 10_000;
const specsMs = 60_000;
const starts = 5;

const ranges: [string, string, number][] = [
  ["7d", "7 days", 7],
  ["30d", "30 days", 30],
];

export function OverviewPage() {
  const [range, , days] = ranges.find(([name]) => name === route.value.params.get("range")) ?? ranges[0]!;
  const list = useNodes([useInterval(nodesMs)]);
  const [queue, failed, specs, ledger] = [
    useWaiting(),
    useNewestFailed(),
    useSpecs(specsMs),
    useLedgerDays(days),
  ];
  const nowMs = coarseNow.value;
  const all = nodes.value;
  const known = useMemo(() => [...all.values()], [all]);
  const attention = useMemo(
    () =>
      attentionOf(
        { nodes: known, failed: failed.data ?? [], queue: queue.data, repositories: specs.data ?? [] },
        nowMs,
      ),
    [known, failed.data, queue.data, specs.data, nowMs],
  );
  const sorted = apartHidden(attention, hiddenUntil.value, nowMs);
  const missing = [
    ...(failed.error ? [`The jobs that failed could not be loaded: ${failed.error}`] : []),
    ...(specs.error ? [`The specs in git could not be loaded: ${specs.error}`] : []),
  ];
  return (
    <div class="page overview-page">
      <header class="page-header">
        <h1>Overview</h1>
        <AsOf shown={list} />
        <Choice
          label="Range"
          value={range}
          options={ranges.map(([value, title]): [string, string] => [value, title])}
          onChange={(value) => setParams({ range: value === "7d" ? null : value })}
        />
      </header>
      <Strip nowMs={nowMs} queue={queue} ledger={ledger} days={days} attention={sorted.shown.length} />
      {known.length > 0 ? (
        <div class="overview-columns">
          <ClusterMap nodes={known} nowMs={nowMs} />
          <AttentionList all={sorted} missing={missing} />
        </div>
      ) : list.data?.complete ? (
        <Notice kind="empty" title="No node has joined yet">
          Start <code>podium-agent --coordinator {location.origin} --token-file agent.token</code> on each
          node.
        </Notice>
      ) : (
        <NotYet what="the nodes" shown={list} />
      )}
      <div class="overview-columns">
        <Goodput shown={ledger} days={days} />
        <NextStarts shown={queue} nowMs={nowMs} />
      </div>
    </div>
  );
}

interface StripProperties {
  nowMs: number;
  queue: Shown<Queue>;
  ledger: Shown<LedgerTable>;
  days: number;
  attention: number;
}

function Strip({ nowMs, queue, ledger, days, attention }: StripProperties) {
  const { devices } = useMemo(() => summarise(nodes.value.values(), nowMs), [nodes.value, nowMs]);
  const usable = devices.busy + devices.free;
  const goodput = ledger.data?.all.goodput;
  const waiting = queue.data && waitingOf(queue.data);
  const [head] = queue.data ? nextStarts(queue.data, 1) : [];
  return (
    <div class="overview-strip">
      <Figure
        name="Devices busy"
        href="#/nodes"
        note={usable === 0 ? "none is usable" : `of ${formatCount(usable)} usable`}
      >
        {formatCount(devices.busy)}
      </Figure>
      <Figure name="Goodput" href="#/ledger" note={`of the last ${days} days`}>
        {goodput == null ? "–" : formatShare(goodput)}
      </Figure>
      <Figure
        name="Waiting"
        href="#/queue"
        note={head ? `next start ${untilText(head.startMs, nowMs)}` : "no start is reserved"}
      >
        {waiting ? formatCount(waiting.inLine) : "–"}
        {waiting && waiting.apart > 0 && <span class="muted"> + {formatCount(waiting.apart)} apart</span>}
      </Figure>
      <Figure name="Need attention" href="#/overview?attention=all" note="nodes, devices, jobs, specs">
        <span class={attention > 0 ? "warn" : "good"}>{formatCount(attention)}</span>
      </Figure>
    </div>
  );
}

interface FigureProperties {
  name: string;
  href: string;
  note: string;
  children: ComponentChildren;
}

const Figure = ({ name, href, note, children }: FigureProperties) => (
  <a class="overview-figure" href={href}>
    <span class="overview-name">{name}</span>
    <strong class="number">{children}</strong>
    <span class="muted">{note}</span>
  </a>
);

const untilText = (ms: number, nowMs: number) =>
  ms - nowMs < 1000 ? "any moment" : `in ${formatDuration((ms - nowMs) / 1000)}`;

function Goodput({ shown, days }: { shown: Shown<LedgerTable>; days: number }) {
  const { data } = shown;
  if (!data) return <NotYet what="the ledger" shown={shown} />;
  const parts = partsOf(data.all.totals, "devices", false);
  if (parts.length === 0)
    return (
      <Notice kind="empty" title="Nothing to account for">
        No job held a device in the last {days} days.
      </Notice>
    );
  return (
    <div class="overview-goodput">
      <section class="panel panel-text" aria-label="Where device time went">
        <p>
          {tableSentence(data, `in the last ${days} days (UTC)`)} <Info of="goodput">{goodputRule}</Info>{" "}
          <AsOf shown={shown} />
        </p>
        <LedgerBar label="All of it" parts={parts} />
        <LedgerKey kinds={ledgerKinds.filter((kind) => parts.some((part) => part.kind === kind))} />
      </section>
      <GoodputChart ledger={data} />
    </div>
  );
}

function NextStarts({ shown, nowMs }: { shown: Shown<Queue>; nowMs: number }) {
  if (!shown.data) return <NotYet what="the queue" shown={shown} />;
  const next = nextStarts(shown.data, starts);
  return (
    <section class="panel" aria-label="Next starts">
      <header class="panel-head">
        <h2>Next starts</h2>
        <span class="muted">those that are reserved</span>
        <AsOf shown={shown} />
      </header>
      {next.length === 0 && <p class="panel-text muted">No waiting job has a reserved start.</p>}
      <ol class="attention">
        {next.map(({ job, name, devices, kind, startMs }) => (
          <li key={job}>
            <a href={`#/jobs/${job}`}>
              job {job} {name}
            </a>
            <span class="muted">
              {formatCount(devices)} {kind}, {untilText(startMs, nowMs)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

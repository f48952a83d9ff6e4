// The cluster: every node with its devices. Few nodes show as cards, many as lines.
import { useMemo } from "preact/hooks";
import { formatCount } from "../format/numbers";
import { coarseNow } from "../state/clock";
import { Choice } from "../ui/choice";
import { FilterBox } from "../ui/filter_box";
import { NodeStateIcon } from "../ui/icons";
import { NodeCard } from "../node/node_card";
import { AsOf } from "../ui/as_of";
import { NoRows } from "../ui/notice";
import { StateChips } from "../ui/state_chips";
import { useInterval } from "../hooks/use_interval";
import { useNodes } from "../hooks/use_lists";
import {
  nodeFilterFrom,
  nodeStates,
  showNodes,
  summarise,
  toggledNodeState,
  type DeviceUse,
} from "../model/node_list";
import { route, setParams } from "../state/router";
import { nodes } from "../state/store";

const refreshMs = 10_000;
/** With more nodes than this, lines are the default. */
const mostCards = 48;

export function NodesPage() {
  const { params } = route.value;
  const all = nodes.value;
  const nowMs = coarseNow.value;
  const filter = useMemo(() => nodeFilterFrom(params), [params]);
  const shown = useMemo(() => showNodes(all.values(), filter), [all, filter]);
  const summary = useMemo(() => summarise(all.values(), nowMs), [all, nowMs]);
  // The stream does not carry heartbeats, so the page asks at intervals to keep "last seen" true.
  const list = useNodes([useInterval(refreshMs)]);
  const layout = params.get("view") ?? (all.size > mostCards ? "lines" : "cards");
  return (
    <div class="page">
      <h1 class="visually-hidden">Nodes</h1>
      <div class="toolbar">
        <FilterBox value={filter.text} label="Filter nodes" placeholder="Name, address or key:value" />
        <StateChips
          states={nodeStates}
          chosen={filter.states}
          counts={summary.nodes}
          icon={(state) => <NodeStateIcon state={state} />}
          className={(state) => `node-${state}`}
          toggled={(state) => toggledNodeState(filter.states, state)}
        />
        <DeviceSummary devices={summary.devices} />
        <AsOf shown={list} />
        <Choice
          label="Layout"
          value={layout === "lines" ? "lines" : "cards"}
          options={[
            ["cards", "Cards"],
            ["lines", "Lines"],
          ]}
          onChange={(view) => setParams({ view })}
        />
      </div>
      {shown.length > 0 ? (
        <div class={layout === "lines" ? "nodes nodes-lines" : "nodes"}>
          {shown.map((node) => (
            <NodeCard key={node.id} node={node} />
          ))}
        </div>
      ) : (
        <NoRows
          one="node"
          list={list}
          complete={list.data?.complete ?? false}
          filtered={all.size > 0}
          empty="No node has joined yet"
        >
          Start <code>podium-agent --coordinator {location.origin} --token-file agent.token</code> on each
          node.
        </NoRows>
      )}
    </div>
  );
}

const uses: [use: DeviceUse, word: string][] = [
  ["busy", "busy"],
  ["free", "free"],
  ["unhealthy", "unhealthy"],
  ["away", "away"],
];

function DeviceSummary({ devices }: { devices: Record<DeviceUse, number> }) {
  const parts = uses.filter(([use]) => devices[use] > 0);
  return (
    <span class="toolbar-summary muted" role="status">
      {parts.length > 0 && "Devices:"}
      {parts.map(([use, word]) => (
        <span key={use} class={`node-use node-use-${use}`}>
          <span class="number">{formatCount(devices[use])}</span> {word}
        </span>
      ))}
    </span>
  );
}

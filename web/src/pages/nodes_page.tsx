// The cluster: every node with its devices. Few nodes show as cards, many as lines.
import { useEffect, useMemo } from "preact/hooks";
import { Choice } from "../components/chart_settings";
import { FilterBox } from "../components/filter_box";
import { NodeStateIcon } from "../components/icons";
import { NodeCard } from "../components/node_card";
import { Notice } from "../components/notice";
import { StateChips } from "../components/state_chips";
import { useInterval } from "../components/use_interval";
import {
  nodeFilterFrom,
  nodeStates,
  showNodes,
  summarise,
  toggledNodeState,
  useOf,
  type DeviceUse,
} from "../model/node_list";
import { formatCount } from "../model/numbers";
import { route, setParams } from "../state/router";
import { connection, loadNodes, nodes, nodesLoading } from "../state/store";

const refreshMs = 10_000;
/** With more nodes than this, lines are the better first view. */
const mostCards = 48;

export function NodesPage() {
  const { params } = route.value;
  const all = nodes.value;
  const filter = useMemo(() => nodeFilterFrom(params), [params]);
  const shown = useMemo(() => showNodes(all.values(), filter), [all, filter]);
  const summary = useMemo(() => summarise(all.values()), [all]);
  useFreshNodes();
  const layout = params.get("view") ?? (all.size > mostCards ? "lines" : "cards");
  return (
    <div class="page">
      <h1 class="visually-hidden">Nodes</h1>
      <div class="toolbar">
        <FilterBox
          value={filter.text}
          label="Filter nodes"
          placeholder="Filter by name, address, or label as key:value"
        />
        <StateChips
          states={nodeStates}
          chosen={filter.states}
          counts={summary.nodes}
          icon={(state) => <NodeStateIcon state={state} />}
          className={(state) => `node-${state}`}
          toggled={(state) => toggledNodeState(filter.states, state)}
        />
        <DeviceSummary devices={summary.devices} />
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
        <Nothing filtered={all.size > 0} />
      )}
    </div>
  );
}

/** Heartbeats are not pushed, so that "last seen" stays true the page asks while it is open. */
function useFreshNodes(): void {
  const turn = useInterval(refreshMs);
  useEffect(() => {
    if (turn > 0 && connection.value.state !== "offline") void loadNodes();
  }, [turn]);
}

const uses: [use: DeviceUse, word: string][] = [
  ["busy", "busy"],
  ["free", "free"],
  ["unhealthy", "unhealthy"],
  ["away", "away"],
];

function DeviceSummary({ devices }: { devices: Record<ReturnType<typeof useOf>, number> }) {
  const parts = uses.filter(([use]) => devices[use] > 0);
  return (
    <span class="toolbar-summary muted" role="status">
      {parts.length > 0 && "Devices:"}
      {parts.map(([use, word]) => (
        <span key={use} class={`use use-${use}`}>
          <span class="number">{formatCount(devices[use])}</span> {word}
        </span>
      ))}
    </span>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  const loading = nodesLoading.value;
  if (loading.state === "failed") {
    return (
      <Notice kind="failed" title="The nodes could not be loaded">
        {loading.error}
      </Notice>
    );
  }
  if (loading.state === "loading") {
    const offline = connection.value.state === "offline";
    return <Notice kind="loading" title={offline ? "Waiting for the coordinator" : "Loading nodes…"} />;
  }
  if (filtered) {
    return (
      <Notice kind="empty" title="No node matches this filter">
        <button type="button" class="button" onClick={() => setParams({ q: null, state: null })}>
          Show all nodes
        </button>
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No node has joined yet">
      Start <code>podium-agent --coordinator {location.origin} --token-file agent.token</code> on each node.
    </Notice>
  );
}

// One node: its state, and its devices with the jobs that hold them.
import type { Device, Node } from "../api/types";
import { formatBytes } from "../format/numbers";
import { formatAbsolute } from "../format/times";
import {
  describeClock,
  describeDevices,
  describeDrain,
  describeReservation,
  describeUnknown,
  deviceUse,
  type DeviceUse,
} from "../model/node_list";
import { coarseNow } from "../state/clock";
import { Labels, NodeStateBadge } from "../ui/badges";
import { DeviceUseIcon } from "../ui/icons";
import { Ago } from "../ui/times";
import { NodeOperations } from "./node_operations";
import "../styles/nodes.css";

export function NodeCard({ node }: { node: Node }) {
  const nowMs = coarseNow.value;
  const unhealthy = node.devices.filter((device) => device.health !== "");
  return (
    <article class={`node panel node-is-${node.state}`} aria-label={`Node ${node.id}`}>
      <header class="node-head">
        <h2>{node.id}</h2>
        <NodeStateBadge state={node.state} />
        <span class="muted node-seen">
          {node.last_seen_ms === null ? (
            "not seen since the coordinator started"
          ) : (
            <>
              seen <Ago ms={node.last_seen_ms} />
            </>
          )}
        </span>
      </header>
      <p class="node-facts muted">
        {describeDevices(node)}
        <span class="node-address">
          {node.address} · {node.agent_version}
          {node.clock &&
            !node.clock.off &&
            ` · clock ${node.clock.ahead_ms < 0 ? "−" : "+"}${Math.abs(node.clock.ahead_ms)} ms`}
        </span>
      </p>
      <ul class="devices" aria-label={`Devices of ${node.id}`}>
        {node.devices.map((device) => (
          <li key={device.index}>
            <DeviceCell node={node} device={device} />
          </li>
        ))}
      </ul>
      {node.drain && <p class="node-drain">{describeDrain(node.drain, nowMs, formatAbsolute)}</p>}
      {node.reservation && (
        <p class="node-drain">{describeReservation(node.reservation, nowMs, formatAbsolute)}</p>
      )}
      {node.unknown && <p class="error-text node-health">{describeUnknown(node.id, node.unknown)}</p>}
      {node.clock?.off && <p class="error-text node-health">{describeClock(node.clock.ahead_ms)}</p>}
      {unhealthy.map((device) => (
        <p key={device.index} class="error-text node-health">
          {device.kind} {device.index}: {device.health}
        </p>
      ))}
      <div class="node-foot">
        <Labels labels={node.labels} />
        <NodeOperations node={node} />
      </div>
    </article>
  );
}

function DeviceCell({ node, device }: { node: Node; device: Device }) {
  const use = deviceUse(node, device, coarseNow.value);
  const title = `${device.kind} ${device.index}: ${describe(use, device, node)}${device.memory_bytes ? `, ${formatBytes(device.memory_bytes)}` : ""}`;
  if (use === "busy") {
    return (
      <a class="device device-busy number" href={`#/jobs/${device.job}`} title={title} aria-label={title}>
        {device.job}
      </a>
    );
  }
  return (
    <span class={`device device-${use}`} title={title} role="img" aria-label={title}>
      {use === "unhealthy" ? <DeviceUseIcon use={use} /> : device.index}
    </span>
  );
}

function describe(use: DeviceUse, device: Device, node: Node): string {
  if (use === "busy") return `job ${device.job}`;
  if (use === "unhealthy") return device.health ?? "";
  if (use === "free") return "free";
  return node.state === "up" ? "its node is drained" : "its node is away";
}

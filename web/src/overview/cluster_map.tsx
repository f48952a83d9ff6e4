// The map of the cluster: a block for each node, and in it a piece for the devices of each job. Arrow keys walk from job to
// job. Signals hold the job that the reader points at; single elements read them, so pointing redraws only the pieces of
// that job.
import { computed, useComputed, useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { colourAt } from "../charts/line";
import { formatCount } from "../format/numbers";
import { mapOf, pieceText, type BlockGroup, type NodeBlock, type Piece } from "../model/overview";
import type { Node } from "../api/types";
import { route, setParams } from "../state/router";
import { Choice } from "../ui/choice";
import { NodeStateIcon } from "../ui/icons";

interface Properties {
  nodes: readonly Node[];
  nowMs: number;
}

const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function ClusterMap({ nodes, nowMs }: Properties) {
  const groups = useMemo(() => mapOf(nodes, nowMs), [nodes, nowMs]);
  const byJob = route.value.params.get("colour") === "job";
  const lit = useSignal<number | null>(null);
  const look = useComputed(() => (lit.value === null ? "map" : "map has-lit"));
  useEffect(() => {
    // No event reports that the pointer has left a piece that was removed.
    if (lit.peek() !== null && piecesOfJob(lit.peek()!, groups).length === 0) lit.value = null;
  }, [groups]);
  const map = useRef<HTMLDivElement>(null);
  const walk = (event: KeyboardEvent) => {
    const step = steps[event.key];
    const links = [...map.current!.querySelectorAll<HTMLElement>("a.map-piece")];
    const at = links.indexOf(document.activeElement as HTMLElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    links[(at + step + links.length) % links.length]!.focus();
  };
  return (
    <section class="panel" aria-label="Cluster map">
      <header class="panel-head">
        <h2>What runs where</h2>
        <LitText lit={lit} groups={groups} />
        <span class="overview-end">
          <Choice
            label="Colour"
            value={byJob ? "job" : "use"}
            options={[
              ["use", "By use"],
              ["job", "By job"],
            ]}
            onChange={(value) => setParams({ colour: value === "use" ? null : value })}
          />
        </span>
      </header>
      <div ref={map} class={look} onKeyDown={walk}>
        {groups.map((group) => (
          <section key={group.name} class="map-group" aria-label={group.name || "Nodes"}>
            {group.name && <h3 class="muted">{group.name}</h3>}
            <div class="map-blocks">
              {group.blocks.map((block) => (
                <Block key={block.node.id} block={block} byJob={byJob} lit={lit} />
              ))}
            </div>
          </section>
        ))}
      </div>
      <Key />
    </section>
  );
}

function LitText({ lit, groups }: { lit: ReadonlySignal<number | null>; groups: readonly BlockGroup[] }) {
  return (
    <span class="muted" role="status">
      {lit.value === null ? "" : litText(lit.value, groups)}
    </span>
  );
}

const piecesOfJob = (job: number, groups: readonly BlockGroup[]) =>
  groups.flatMap(({ blocks }) =>
    blocks.flatMap((block) => block.pieces.filter((piece) => piece.job === job)),
  );

function litText(job: number, groups: readonly BlockGroup[]): string {
  const pieces = piecesOfJob(job, groups);
  const devices = pieces.reduce((sum, { count }) => sum + count, 0);
  const nodes = new Set(pieces.map(({ node }) => node)).size;
  return `job ${job}: ${formatCount(devices)} ${devices === 1 ? "device" : "devices"} on ${formatCount(nodes)} ${nodes === 1 ? "node" : "nodes"}`;
}

interface BlockProperties {
  block: NodeBlock;
  byJob: boolean;
  /** The job that the reader points at. */
  lit: Signal<number | null>;
}

function Block({ block: { node, pieces }, byJob, lit }: BlockProperties) {
  return (
    <div class={`map-block map-${node.state}`}>
      <a class="map-name" href={`#/nodes?q=${encodeURIComponent(node.id)}`} title={node.address}>
        {node.state !== "up" && <NodeStateIcon state={node.state} />}
        {node.id}
      </a>
      <span class="map-pieces">
        {pieces.map((piece, index) => (
          <PieceView key={index} piece={piece} byJob={byJob} lit={lit} />
        ))}
      </span>
    </div>
  );
}

interface PieceProperties extends Omit<BlockProperties, "block"> {
  piece: Piece;
}

/**
 * The number of a job is written on its piece if there is room. On narrow screens devices are narrower
 * (overview.css).
 */
const roomOf = ({ job, count }: Piece, deviceWidth: number) => {
  const digitWidth = 6.6;
  return count * deviceWidth - 4 >= String(job).length * digitWidth;
};
const [wideDevice, narrowDevice] = [18, 14] as const;

function PieceView({ piece, byJob, lit }: PieceProperties) {
  const { use, job, count } = piece;
  const text = pieceText(piece);
  const isTight = !roomOf(piece, narrowDevice);
  const name = `map-piece use-${use}${isTight ? " is-tight" : ""}`;
  const look = useMemo(
    () => computed(() => (job !== null && lit.value === job ? `${name} is-lit` : name)),
    [job, name, lit],
  );
  const style = {
    "--count": String(count),
    ...(byJob && job !== null ? { "--hue": `var(${colourAt(job)})` } : {}),
  };
  if (job === null) return <span class={name} style={style} title={text} role="img" aria-label={text} />;
  return (
    <a
      class={look}
      style={style}
      href={`#/jobs/${job}`}
      title={text}
      aria-label={text}
      onPointerEnter={() => (lit.value = job)}
      onPointerLeave={() => (lit.value = null)}
      onFocus={() => (lit.value = job)}
      onBlur={() => (lit.value = null)}
    >
      {roomOf(piece, wideDevice) && <span class="number">{job}</span>}
    </a>
  );
}

const Key = () => (
  <ul class="map-key" aria-label="Colours">
    {(
      [
        ["busy", "busy"],
        ["free", "free"],
        ["away", "not usable: lost, silent or drained"],
        ["unhealthy", "sick"],
      ] as const
    ).map(([use, text]) => (
      <li key={use}>
        <span class={`map-piece use-${use}`} aria-hidden="true" /> {text}
      </li>
    ))}
  </ul>
);

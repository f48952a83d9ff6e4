// What runs where: a block a node, in it its devices, those of one job in one piece. Arrows walk the pieces of jobs.
import { useMemo, useRef, useState } from "preact/hooks";
import { colourAt } from "../charts/line";
import { mapOf, pieceText, type BlockGroup, type NodeBlock, type Piece } from "../model/overview";
import type { Node } from "../api/types";
import { formatCount } from "../model/numbers";
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
  const [lit, setLit] = useState<number | null>(null);
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
        <span class="muted" role="status">
          {lit === null ? "" : litText(lit, groups)}
        </span>
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
      <div ref={map} class="map" onKeyDown={walk}>
        {groups.map((group) => (
          <section key={group.name} class="map-group" aria-label={group.name || "Nodes"}>
            {group.name && <h3 class="muted">{group.name}</h3>}
            <div class="map-blocks">
              {group.blocks.map((block) => (
                <Block key={block.node.id} block={block} byJob={byJob} lit={lit} onLit={setLit} />
              ))}
            </div>
          </section>
        ))}
      </div>
      <Key />
    </section>
  );
}

function litText(job: number, groups: readonly BlockGroup[]): string {
  const pieces = groups.flatMap(({ blocks }) =>
    blocks.flatMap((block) => block.pieces.filter((piece) => piece.job === job)),
  );
  const devices = pieces.reduce((sum, { count }) => sum + count, 0);
  const nodes = new Set(pieces.map(({ node }) => node)).size;
  return `job ${job}: ${formatCount(devices)} ${devices === 1 ? "device" : "devices"} on ${formatCount(nodes)} ${nodes === 1 ? "node" : "nodes"}`;
}

interface BlockProperties {
  block: NodeBlock;
  byJob: boolean;
  lit: number | null;
  onLit(job: number | null): void;
}

function Block({ block: { node, pieces }, byJob, lit, onLit }: BlockProperties) {
  return (
    <div class={`map-block map-${node.state}`}>
      <a class="map-name" href={`#/nodes?q=${encodeURIComponent(node.id)}`} title={node.address}>
        {node.state !== "up" && <NodeStateIcon state={node.state} />}
        {node.id}
      </a>
      <span class="map-pieces">
        {pieces.map((piece, index) => (
          <PieceView key={index} piece={piece} byJob={byJob} lit={lit} onLit={onLit} />
        ))}
      </span>
    </div>
  );
}

interface PieceProperties extends Omit<BlockProperties, "block"> {
  piece: Piece;
}

/** So wide a piece has its job's number written on it. */
const written = 2;

function PieceView({ piece, byJob, lit, onLit }: PieceProperties) {
  const { use, job, count } = piece;
  const text = pieceText(piece);
  const isDim = lit !== null && lit !== job;
  const name = ["map-piece", `use-${use}`, isDim && "is-dim"].filter(Boolean).join(" ");
  const style = {
    "--count": String(count),
    ...(byJob && job !== null ? { "--hue": `var(${colourAt(job)})` } : {}),
  };
  if (job === null) return <span class={name} style={style} title={text} role="img" aria-label={text} />;
  return (
    <a
      class={name}
      style={style}
      href={`#/jobs/${job}`}
      title={text}
      aria-label={text}
      onPointerEnter={() => onLit(job)}
      onPointerLeave={() => onLit(null)}
      onFocus={() => onLit(job)}
      onBlur={() => onLit(null)}
    >
      {count >= written && <span class="number">{job}</span>}
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

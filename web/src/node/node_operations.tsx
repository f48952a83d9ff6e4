// What an operator can do to a node: drain it (without an end or in a window), resume it, reserve it for an account, label
// it.
import { useState } from "preact/hooks";
import { labelNode, resumeNode, unreserveNode } from "../api/client";
import type { Node } from "../api/types";
import { labelChanges, type LabelRow } from "../model/node_changes";
import { applyNode } from "../state/store";
import { mayChange } from "../state/token";
import { Button } from "../ui/button";
import { CloseIcon } from "../ui/icons";
import { DrainDialog, ReserveDialog } from "./node_window_dialog";
import { OperationDialog, ProblemText, Wrong } from "../ui/operation_dialog";
import { useOperation } from "../hooks/use_operation";

export function NodeOperations({ node }: { node: Node }) {
  const [open, setOpen] = useState<"drain" | "reserve" | "labels" | null>(null);
  const undoing = useOperation();
  if (!mayChange.value) return null;
  const close = () => setOpen(null);
  return (
    <div class="operations">
      {node.drain && (
        <Button
          small
          name={`Resume ${node.id}`}
          disabled={undoing.busy}
          onPress={() => void undoing.run((token) => resumeNode(node.id, token), applyNode)}
        >
          Resume
        </Button>
      )}
      <Button
        small
        name={`${node.drain ? "Change the drain of" : "Drain"} ${node.id}`}
        onPress={() => setOpen("drain")}
      >
        {node.drain ? "Change…" : "Drain…"}
      </Button>
      {node.reservation && (
        <Button
          small
          name={`Open ${node.id} to every account`}
          disabled={undoing.busy}
          onPress={() => void undoing.run((token) => unreserveNode(node.id, token), applyNode)}
        >
          Open
        </Button>
      )}
      <Button small name={`Reserve ${node.id}`} onPress={() => setOpen("reserve")}>
        Reserve…
      </Button>
      <Button small name={`Labels of ${node.id}`} onPress={() => setOpen("labels")}>
        Labels…
      </Button>
      <ProblemText operation={undoing} />
      {open === "drain" && <DrainDialog node={node} onClose={close} />}
      {open === "reserve" && <ReserveDialog node={node} onClose={close} />}
      {open === "labels" && <LabelsDialog node={node} onClose={close} />}
    </div>
  );
}

function LabelsDialog({ node, onClose }: { node: Node; onClose(): void }) {
  const [rows, setRows] = useState<LabelRow[]>([...Object.entries(node.operator_labels), ["", ""]]);
  const [wrong, setWrong] = useState("");
  const operation = useOperation();
  const change = (at: number, row: LabelRow | null) =>
    setRows(rows.flatMap((old, index) => (index !== at ? [old] : row ? [row] : [])));
  const submit = async () => {
    const labels = labelChanges(node.operator_labels, rows);
    setWrong(typeof labels === "string" ? labels : "");
    if (typeof labels === "string") return;
    if (Object.keys(labels).length === 0) return onClose();
    if (await operation.run((token) => labelNode(node.id, labels, token), applyNode)) onClose();
  };
  const own = Object.entries(node.labels).filter(([key]) => !(key in node.operator_labels));
  return (
    <OperationDialog
      title={`Labels of ${node.id}`}
      action="Set them"
      operation={operation}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <p>
        Jobs ask for labels with <code>resources.nodes</code>. These labels override those that the agent
        gives.
      </p>
      {rows.map(([key, value], index) => (
        <div key={index} class="label-row">
          <input
            type="text"
            aria-label={`Label ${index + 1}`}
            placeholder="partition"
            maxLength={63}
            value={key}
            onInput={(event) => change(index, [event.currentTarget.value, value])}
          />
          <input
            type="text"
            aria-label={`Value ${index + 1}`}
            placeholder="nlp"
            maxLength={63}
            value={value}
            onInput={(event) => change(index, [key, event.currentTarget.value])}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={`Remove label ${index + 1}`}
            onClick={() => change(index, null)}
          >
            <CloseIcon />
          </button>
        </div>
      ))}
      <Button small onPress={() => setRows([...rows, ["", ""]])}>
        One more
      </Button>
      {own.length > 0 && (
        <p class="muted label-own">
          The agent gives: {own.map(([key, value]) => `${key}=${value}`).join(", ")}
        </p>
      )}
      <Wrong text={wrong} />
    </OperationDialog>
  );
}

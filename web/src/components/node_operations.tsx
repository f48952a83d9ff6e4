// What an operator does to a node: drain it, for good or in a window, resume it, label it.
import { useState } from "preact/hooks";
import { drainNode, labelNode, resumeNode } from "../api/client";
import type { Node } from "../api/types";
import { fieldTime, labelChanges, readWindow, type LabelRow } from "../model/node_changes";
import { applyNode } from "../state/store";
import { mayChange } from "../state/token";
import { CloseIcon } from "./icons";
import { OperationDialog, ProblemText, Wrong } from "./operation_dialog";
import { useOperation } from "./use_operation";

export function NodeOperations({ node }: { node: Node }) {
  const [open, setOpen] = useState<"drain" | "labels" | null>(null);
  const resuming = useOperation();
  if (!mayChange.value) return null;
  const close = () => setOpen(null);
  return (
    <div class="node-operations">
      {node.drain && (
        <button
          type="button"
          class="button button-small"
          aria-label={`Resume ${node.id}`}
          disabled={resuming.busy}
          onClick={() => void resuming.run((token) => resumeNode(node.id, token), applyNode)}
        >
          Resume
        </button>
      )}
      <button
        type="button"
        class="button button-small"
        aria-label={`${node.drain ? "Change the drain of" : "Drain"} ${node.id}`}
        onClick={() => setOpen("drain")}
      >
        {node.drain ? "Change…" : "Drain…"}
      </button>
      <button
        type="button"
        class="button button-small"
        aria-label={`Labels of ${node.id}`}
        onClick={() => setOpen("labels")}
      >
        Labels…
      </button>
      <ProblemText operation={resuming} />
      {open === "drain" && <DrainDialog node={node} onClose={close} />}
      {open === "labels" && <LabelsDialog node={node} onClose={close} />}
    </div>
  );
}

function DrainDialog({ node, onClose }: { node: Node; onClose(): void }) {
  const [reason, setReason] = useState(node.drain?.reason ?? "");
  const [from, setFrom] = useState(fieldTime(node.drain?.from_ms ?? null));
  const [until, setUntil] = useState(fieldTime(node.drain?.until_ms ?? null));
  const [wrong, setWrong] = useState("");
  const operation = useOperation();
  const submit = async () => {
    const drain = readWindow(reason, from, until, Date.now());
    setWrong(typeof drain === "string" ? drain : "");
    if (typeof drain === "string") return;
    if (await operation.run((token) => drainNode(node.id, drain, token), applyNode)) onClose();
  };
  const running = new Set(node.devices.map(({ job }) => job).filter((job) => job !== null));
  return (
    <OperationDialog
      title={`Drain ${node.id}`}
      action="Drain it"
      operation={operation}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <p>
        Nothing new starts there; what runs goes on
        {running.size > 0 && ` (${running.size === 1 ? "1 job" : `${running.size} jobs`})`}.
      </p>
      <label class="field">
        Reason, for those who wait
        <input
          type="text"
          autofocus
          maxLength={500}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <div class="field-pair">
        <label class="field">
          From (empty: now)
          <input type="datetime-local" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
        </label>
        <label class="field">
          Until (empty: until resumed)
          <input
            type="datetime-local"
            value={until}
            onInput={(event) => setUntil(event.currentTarget.value)}
          />
        </label>
      </div>
      <p class="muted">
        With a time it is a maintenance window: jobs whose walltime ends before it still start, and the node
        resumes by itself.
      </p>
      <Wrong text={wrong} />
    </OperationDialog>
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
        Jobs ask for them with <code>resources.nodes</code>. They go before the labels its agent gives.
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
            aria-label={`Take back label ${index + 1}`}
            onClick={() => change(index, null)}
          >
            <CloseIcon />
          </button>
        </div>
      ))}
      <button type="button" class="button button-small" onClick={() => setRows([...rows, ["", ""]])}>
        One more
      </button>
      {own.length > 0 && (
        <p class="muted label-own">Its agent's: {own.map(([key, value]) => `${key}=${value}`).join(", ")}</p>
      )}
      <Wrong text={wrong} />
    </OperationDialog>
  );
}

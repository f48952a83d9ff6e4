// Dialogs that close a node for a time: to all new work (a drain), or to the work of other accounts (a reservation).
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { drainNode, reserveNode } from "../api/client";
import type { Drain, Node } from "../api/types";
import { fieldTime, readWindow } from "../model/node_changes";
import { now } from "../state/clock";
import { applyNode } from "../state/store";
import { OperationDialog, Wrong } from "../ui/operation_dialog";
import { useOperation } from "../hooks/use_operation";

export function DrainDialog({ node, onClose }: { node: Node; onClose(): void }) {
  return (
    <WindowDialog
      title={`Drain ${node.id}`}
      action="Drain it"
      end="resumed"
      window={node.drain}
      send={(drain, token) => drainNode(node.id, drain, token)}
      onClose={onClose}
    >
      <p>No new task starts on this node. {whatRuns(node)}.</p>
    </WindowDialog>
  );
}

export function ReserveDialog({ node, onClose }: { node: Node; onClose(): void }) {
  const [account, setAccount] = useState(node.reservation?.account ?? "");
  return (
    <WindowDialog
      title={`Reserve ${node.id}`}
      action="Reserve it"
      end="opened"
      window={node.reservation}
      send={(window, token) => reserveNode(node.id, { ...window, account: account.trim() }, token)}
      onClose={onClose}
    >
      <p>Jobs of other accounts do not start on this node. {whatRuns(node)}.</p>
      <label class="field">
        Account (accounts below it are included)
        <input
          type="text"
          autofocus
          required
          value={account}
          onInput={(event) => setAccount(event.currentTarget.value)}
        />
      </label>
    </WindowDialog>
  );
}

function whatRuns(node: Node): string {
  const running = new Set(node.devices.map(({ job }) => job).filter((job) => job !== null)).size;
  return `Running jobs go on${running > 0 ? ` (${running === 1 ? "1 job" : `${running} jobs`})` : ""}`;
}

interface WindowDialogProps {
  title: string;
  action: string;
  /** The word for ending a window that has no end: "resumed", "opened". */
  end: string;
  window: Drain | null;
  send(window: Drain, token: string): Promise<Node>;
  onClose(): void;
  children: ComponentChildren;
}

function WindowDialog({ title, action, end, window, send, onClose, children }: WindowDialogProps) {
  const [reason, setReason] = useState(window?.reason ?? "");
  const [from, setFrom] = useState(fieldTime(window?.from_ms ?? null));
  const [until, setUntil] = useState(fieldTime(window?.until_ms ?? null));
  const [wrong, setWrong] = useState("");
  const operation = useOperation();
  const submit = async () => {
    const wanted = readWindow(reason, from, until, now.value);
    setWrong(typeof wanted === "string" ? wanted : "");
    if (typeof wanted === "string") return;
    if (await operation.run((token) => send(wanted, token), applyNode)) onClose();
  };
  return (
    <OperationDialog
      title={title}
      action={action}
      operation={operation}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      {children}
      <label class="field">
        Reason (shown to those who wait)
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
          Until (empty: until {end})
          <input
            type="datetime-local"
            value={until}
            onInput={(event) => setUntil(event.currentTarget.value)}
          />
        </label>
      </div>
      <p class="muted">
        Until the window begins, jobs still start if their walltime ends before it. A window with an end
        closes by itself.
      </p>
      <Wrong text={wrong} />
    </OperationDialog>
  );
}

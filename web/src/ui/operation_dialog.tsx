// Dialogs for operations: what the operation does, its fields, and the coordinator's reason if it refuses.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { useOperation, type Operation } from "../hooks/use_operation";

interface FormProperties {
  title: string;
  action: string;
  danger?: boolean;
  /** The text of the button that changes nothing. */
  keep?: string;
  operation: Operation;
  onSubmit(): void;
  onClose(): void;
  children: ComponentChildren;
}

export function OperationDialog(properties: FormProperties) {
  const { title, action, danger, keep = "Not now", operation, onSubmit, onClose, children } = properties;
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog title={title} busy={operation.busy} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        <ProblemText operation={operation} />
        <div class="dialog-actions">
          <Button autofocus={danger} disabled={operation.busy} onPress={onClose}>
            {keep}
          </Button>
          <Button submit kind={danger ? "danger" : "primary"} disabled={operation.busy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** A sentence about input that the coordinator would refuse. */
export function Wrong({ text }: { text: string }) {
  if (!text) return null;
  return (
    <p class="error-text" role="alert">
      {text}
    </p>
  );
}

export const ProblemText = ({ operation }: { operation: Operation }) => <Wrong text={operation.problem} />;

interface ConfirmProperties<T> {
  small?: boolean;
  label: string;
  title: string;
  action: string;
  danger?: boolean;
  keep: string;
  run(token: string): Promise<T>;
  done(answer: T): void;
  children: ComponentChildren;
}

/** A button for an operation that loses work: it asks first. */
export function ConfirmButton<T>(properties: ConfirmProperties<T>) {
  const { small, label, title, action, danger, keep, run, done, children } = properties;
  const [open, setOpen] = useState(false);
  const operation = useOperation();
  const close = () => {
    setOpen(false);
    operation.forget();
  };
  const submit = async () => {
    if (await operation.run(run, done)) setOpen(false);
  };
  return (
    <>
      <Button
        small={small}
        kind={danger ? "danger" : undefined}
        disabled={operation.busy}
        onPress={() => setOpen(true)}
      >
        {label}
      </Button>
      {open && (
        <OperationDialog
          title={title}
          action={action}
          danger
          keep={keep}
          operation={operation}
          onSubmit={() => void submit()}
          onClose={close}
        >
          {children}
        </OperationDialog>
      )}
    </>
  );
}

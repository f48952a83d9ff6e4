// A dialog that changes the priority of jobs. It checks the number before it asks the coordinator.
import { useState } from "preact/hooks";
import { useOperation } from "../hooks/use_operation";
import { readPriority, type Operated } from "../model/operations";
import { Button } from "../ui/button";
import { OperationDialog, Wrong } from "../ui/operation_dialog";
import { prioritiseAll, type Together } from "./together";

interface Properties {
  jobs: readonly Operated[];
  label: string;
  /** In the title of the dialog: "job 7". */
  of: string;
  small?: boolean;
  /** Receives the refusals of several jobs; the refusal of a single job is shown in the dialog. */
  onDone?(told: Together): void;
}

/** Empty if the jobs have different priorities. */
const priorityOf = ([first, ...others]: readonly Operated[]) =>
  first && others.every(({ priority }) => priority === first.priority) ? String(first.priority) : "";

export function PriorityButton({ jobs, label, of, small, onDone }: Properties) {
  const [text, setText] = useState<string | null>(null);
  const [wrong, setWrong] = useState("");
  const operation = useOperation();
  const close = () => {
    setText(null);
    setWrong("");
    operation.forget();
  };
  const submit = async () => {
    const priority = readPriority(text ?? "");
    if (typeof priority === "string") return setWrong(priority);
    await operation.run(prioritiseAll(jobs, priority), (told) => {
      onDone?.(told);
      close();
    });
  };
  return (
    <>
      <Button small={small} onPress={() => setText(priorityOf(jobs))}>
        {label}
      </Button>
      {text !== null && (
        <OperationDialog
          title={`Priority of ${of}`}
          action="Change it"
          operation={operation}
          onSubmit={() => void submit()}
          onClose={close}
        >
          <label class="field">
            From 0 to 100
            <input
              type="number"
              min={0}
              max={100}
              step={1}
              required
              autofocus
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <p class="muted">
            The job with the highest score goes first. The score is the priority, plus points for waiting,
            minus points for walltime. The Queue page shows it.
          </p>
          <Wrong text={wrong} />
        </OperationDialog>
      )}
    </>
  );
}

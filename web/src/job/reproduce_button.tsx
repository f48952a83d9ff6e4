// Submits a job's spec and code once more: says first what is repeated, then what differs from when the original ran.
import { useRef, useState } from "preact/hooks";
import { reproduceJob } from "../api/client";
import type { Reproduction } from "../api/types";
import { useOperation } from "../hooks/use_operation";
import { compareHash } from "../model/compare_address";
import { randomKey } from "../state/draft";
import { applyJob } from "../state/store";
import { mayChange } from "../state/token";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { OperationDialog } from "../ui/operation_dialog";

interface Properties {
  job: { id: number; name: string };
  small?: boolean;
}

export function ReproduceButton({ job, small }: Properties) {
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<Reproduction | null>(null);
  const operation = useOperation();
  /** An answer that was lost is asked for again under its key, and queues nothing twice. */
  const key = useRef("");
  if (!mayChange.value) return null;
  const begin = () => {
    key.current = randomKey();
    setMade(null);
    setOpen(true);
  };
  const close = () => {
    setOpen(false);
    operation.forget();
  };
  const submit = () =>
    operation.run(
      (token) => reproduceJob(job.id, key.current, token),
      (answer) => {
        applyJob(answer.job);
        setMade(answer);
      },
    );
  return (
    <>
      <Button
        small={small}
        {...(small ? { name: `Reproduce job ${job.id}` } : {})}
        title="Submits its spec and code once more"
        onPress={begin}
      >
        Reproduce…
      </Button>
      {open &&
        (made ? (
          <Made made={made} onClose={close} />
        ) : (
          <OperationDialog
            title={`Reproduce job ${job.id}?`}
            action="Submit it once more"
            operation={operation}
            onSubmit={() => void submit()}
            onClose={close}
          >
            <p>
              <strong>{job.name}</strong> is submitted as a new job, which waits for its turn: the spec as it
              ran then, with its parameters and its seed, and its packed code, whatever has been committed
              since.
            </p>
            <p class="muted">
              What lies in data folders is not recorded and may differ. Devices and versions that differ are
              told once it is queued.
            </p>
          </OperationDialog>
        ))}
    </>
  );
}

function Made({ made: { job, reproduces, differences }, onClose }: { made: Reproduction; onClose(): void }) {
  return (
    <Dialog title={`Job ${job.id} repeats job ${reproduces}`} onClose={onClose}>
      {differences.length === 0 ? (
        <p>Nothing that is recorded differs from when the original ran: devices and versions are the same.</p>
      ) : (
        <>
          <p>Different from when the original ran:</p>
          <ul class="differences">
            {differences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
      <p class="muted">When it has ended, its page has both results beside each other.</p>
      <div class="dialog-actions">
        <Button onPress={onClose}>Close</Button>
        <a class="button" href={compareHash([reproduces, job.id])} onClick={onClose}>
          Compare both
        </a>
        <a class="button button-primary" href={`#/jobs/${job.id}`} onClick={onClose}>
          Open job {job.id}
        </a>
      </div>
    </Dialog>
  );
}

// Submits a job's spec and code again. The dialog first says what is repeated, then what differs from when the original ran.
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
  /** If an answer is lost, the request is made again under its key and queues nothing twice. */
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
        title="Submit its spec and code once more"
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
              This submits <strong>{job.name}</strong> as a new job, which waits in the queue. The new job
              repeats the spec, the parameters, the seed and the packed code of the original. Later commits do
              not matter.
            </p>
            <p class="muted">
              The contents of data folders are not recorded and may differ. Once the job is queued, this
              dialog lists the devices and versions that differ.
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
        <p>The devices and versions are the same as when the original ran.</p>
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
      <p class="muted">When the job has ended, its page shows both results side by side.</p>
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

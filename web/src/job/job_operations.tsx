// What an operator can do to a job: the buttons that fit its state. A button that loses work asks first.
import { operateJob, type JobOperation } from "../api/client";
import type { Job } from "../api/types";
import { offerFor } from "../model/operations";
import { applyJob } from "../state/store";
import { mayChange } from "../state/token";
import { Button } from "../ui/button";
import { ConfirmButton, ProblemText } from "../ui/operation_dialog";
import { useOperation } from "../hooks/use_operation";
import { PriorityButton } from "./priority_button";

export function JobOperations({ job }: { job: Job }) {
  const offer = offerFor(job);
  const direct = useOperation();
  if (!mayChange.value) return null;
  const ask = (operation: JobOperation) => (token: string) => operateJob(job.id, operation, token);
  const button = (operation: JobOperation, text: string, title: string) => (
    <Button title={title} disabled={direct.busy} onPress={() => void direct.run(ask(operation), applyJob)}>
      {text}
    </Button>
  );
  return (
    <span class="operations">
      {offer.hold &&
        button(
          "hold",
          "Hold",
          job.state === "queued"
            ? "The job does not start until it is released"
            : "The job goes on, but does not start again until it is released",
        )}
      {offer.release && button("release", "Release", "The job may start again")}
      {offer.priority && <PriorityButton jobs={[job]} label="Priority…" of={`job ${job.id}`} />}
      {offer.requeue === "retry" &&
        button("requeue", "Try now", "The job stops backing off and may use the nodes that it avoids")}
      {offer.requeue === "again" &&
        button(
          "requeue",
          "Go on",
          "The job waits in the queue again, goes on from its newest checkpoint, and may restart as often as at first",
        )}
      {offer.requeue === "stop" && (
        <ConfirmButton
          label="Requeue"
          title={`Requeue job ${job.id}?`}
          action="Stop and queue it again"
          keep="Let it run"
          run={ask("requeue")}
          done={applyJob}
        >
          <p>
            <strong>{job.name}</strong> stops and waits in the queue again{job.held && " once it is released"}
            . Its program may save a checkpoint on SIGTERM; otherwise the work since the last checkpoint is
            lost. The requeue does not count as a restart.
          </p>
        </ConfirmButton>
      )}
      {offer.cancel && (
        <ConfirmButton
          label="Cancel job"
          title={`Cancel job ${job.id}?`}
          action="Cancel the job"
          danger
          keep="Keep it"
          run={ask("cancel")}
          done={applyJob}
        >
          <p>
            <strong>{job.name}</strong>{" "}
            {job.tracked
              ? "is marked as cancelled. Its program runs elsewhere, and is not told."
              : "stops. Its metrics, its log and its checkpoints stay. A requeue continues it."}
          </p>
        </ConfirmButton>
      )}
      <ProblemText operation={direct} />
    </span>
  );
}

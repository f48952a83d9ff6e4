// What an operator does to a job: the buttons that fit its state. Whatever loses work asks first.
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
            ? "Does not start until it is released"
            : "Goes on, but does not start again until it is released",
        )}
      {offer.release && button("release", "Release", "May start again")}
      {offer.priority && <PriorityButton jobs={[job]} label="Priority…" of={`job ${job.id}`} />}
      {offer.requeue === "retry" &&
        button("requeue", "Try now", "Forgets its back-off and the nodes it avoids")}
      {offer.requeue === "again" &&
        button(
          "requeue",
          "Go on",
          "Queues it again, to go on from its newest checkpoint with all its restarts",
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
            <strong>{job.name}</strong> stops, saves a checkpoint if its program does so on SIGTERM, and waits
            for its turn again{job.held && ", when it is released"}. What it did since its last checkpoint may
            be lost; none of its restarts is used up.
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
            <strong>{job.name}</strong> stops; what it has recorded and its checkpoints stay, and a requeue
            lets it go on.
          </p>
        </ConfirmButton>
      )}
      <ProblemText operation={direct} />
    </span>
  );
}

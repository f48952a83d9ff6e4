// Cancels a job after asking; offered only while there is something to cancel.
import { useState } from "preact/hooks";
import { cancelJob } from "../api/client";
import { explain } from "../api/problem";
import type { Job } from "../api/types";
import { applyJob } from "../state/store";
import { withToken } from "../state/token";
import { Dialog } from "./dialog";

type Step = { at: "idle" } | { at: "asking" } | { at: "sending" } | { at: "failed"; why: string };

export function CancelButton({ job }: { job: Job }) {
  const [step, setStep] = useState<Step>({ at: "idle" });
  const over = job.state === "succeeded" || job.state === "failed" || job.state === "cancelled";
  if (over) return null;
  const cancel = async () => {
    setStep({ at: "sending" });
    try {
      const answer = await withToken((token) => cancelJob(job.id, token));
      if (answer) applyJob(answer);
      setStep({ at: "idle" });
    } catch (error) {
      setStep({ at: "failed", why: explain(error) });
    }
  };
  return (
    <>
      <button
        type="button"
        class="button button-danger"
        disabled={step.at === "sending"}
        onClick={() => setStep({ at: "asking" })}
      >
        {step.at === "sending" ? "Cancelling…" : "Cancel job"}
      </button>
      {(step.at === "asking" || step.at === "failed") && (
        <Dialog
          title={`Cancel job ${job.id}?`}
          onClose={() => setStep((now) => (now.at === "sending" ? now : { at: "idle" }))}
        >
          <p>
            <strong>{job.name}</strong> stops for good; what it has recorded and its checkpoints stay.
          </p>
          {step.at === "failed" && (
            <p class="error-text" role="alert">
              {step.why}
            </p>
          )}
          <div class="dialog-actions">
            <button type="button" class="button" autofocus onClick={() => setStep({ at: "idle" })}>
              Keep it
            </button>
            <button type="button" class="button button-danger" onClick={() => void cancel()}>
              Cancel the job
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

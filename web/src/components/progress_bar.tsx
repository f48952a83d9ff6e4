// How far a job is: a bar, and the step in words beside it.
import type { Job } from "../api/types";
import { fraction } from "../model/job_list";
import { formatCount } from "../model/numbers";

export function ProgressBar({ job }: { job: Job }) {
  const part = fraction(job);
  const percent = Math.floor(part * 100);
  return (
    <span
      class={`progress state-${job.state}`}
      role="progressbar"
      aria-label={`Progress of job ${job.id}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <span class="progress-fill" style={{ transform: `scaleX(${part})` }} />
    </span>
  );
}

export function StepText({ job }: { job: Job }) {
  if (!job.progress) return <span class="muted">–</span>;
  return (
    <span class="steps">
      {formatCount(job.progress.step)}
      <span class="muted"> / {formatCount(job.progress.steps)}</span>
    </span>
  );
}

// How far a job is: a bar, and the step in words beside it.
import type { Job, Progress } from "../api/types";
import { formatCount } from "../format/numbers";
import { fraction } from "../model/job_list";
import { isOfAnEnd } from "../model/progress";

export function ProgressBar({ job }: { job: Job }) {
  if (!isOfAnEnd(job)) return null;
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

export function StepText({ progress }: { progress: Progress }) {
  return (
    <span class="steps">
      {formatCount(progress.step)}
      <span class="muted">{progress.steps > 0 ? ` / ${formatCount(progress.steps)}` : " steps"}</span>
    </span>
  );
}

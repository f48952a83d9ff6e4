// Advances a running job by one report: the metrics and the job as a coordinator would push them.
import type { LivePoint } from "../../../web/src/api/types";
import type { FakeCoordinator } from "./server";

export function trainOneStep(coordinator: FakeCoordinator, id: number): void {
  const job = coordinator.cluster.jobs.get(id);
  if (!job?.progress || job.state !== "running" || job.progress.step >= job.progress.steps) return;
  const step = job.progress.step + 10;
  const timeMs = Date.now();
  const loss = Number(job.latest["train/loss"] ?? 5) * 0.999;
  const points: LivePoint[] = [
    { key: "train/loss", step, time_ms: timeMs, value: loss },
    { key: "train/sequences_per_second", step, time_ms: timeMs, value: 495 },
  ];
  coordinator.live.push("metrics", { job: id, points });
  coordinator.putJob({
    ...job,
    progress: { ...job.progress, step, updated_ms: timeMs },
    latest: { ...job.latest, "train/loss": loss },
  });
}

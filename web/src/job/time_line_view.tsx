// The attempts on a time line: bars that show how each ended, hatched while its processes were starting, with ticks for
// checkpoints.
import type { Attempt, JobDetail, JobEvent, SavedCheckpoint } from "../api/types";
import { formatBytes, formatCount, formatNumber } from "../format/numbers";
import { formatAbsolute, formatDuration } from "../format/times";
import { layOut, spaced, type Bar, type TimeLine } from "../model/time_line";
import { now } from "../state/clock";
import { Ago } from "../ui/times";

const percent = (fraction: number) => `${(fraction * 100).toFixed(3)}%`;

export function TimeLineView({ job, events }: { job: JobDetail; events: readonly JobEvent[] }) {
  const line = layOut(job.attempts, events, job.ended_ms ?? now.value);
  if (!line) return <p class="muted panel-text">No attempt has started.</p>;
  return (
    <div class="time-line">
      <div class="time-line-plot" aria-hidden="true">
        {line.bars.map((bar) => (
          <BarRow key={bar.attempt.number} bar={bar} line={line} />
        ))}
        <div class="time-line-axis number">
          {line.ticks.map((tick) => (
            <span key={tick.seconds} style={{ left: percent(tick.left) }}>
              {tick.seconds === 0 ? "0" : formatDuration(tick.seconds)}
            </span>
          ))}
        </div>
      </div>
      <ol class="attempts" tabIndex={0} aria-label="Attempts, newest first">
        {[...job.attempts].reverse().map((attempt) => (
          <AttemptLine key={attempt.number} attempt={attempt} />
        ))}
      </ol>
      {line.gapSeconds > 0 && (
        <p class="muted">
          {formatDuration(line.gapSeconds)} between attempts
          {line.checkpoints.length > 0 && `, ${formatCount(line.checkpoints.length)} checkpoints recorded`}.
        </p>
      )}
      {job.checkpoint && <Saved checkpoint={job.checkpoint} what="Newest" />}
      {job.best_checkpoint && <Saved checkpoint={job.best_checkpoint} what="Best" />}
    </div>
  );
}

/** Where the checkpoint is, for readers who want the model. */
function Saved({ checkpoint, what }: { checkpoint: SavedCheckpoint; what: "Newest" | "Best" }) {
  const { step, bytes, path, time_ms, best } = checkpoint;
  return (
    <p class="saved-checkpoint">
      <span class="muted">
        {what} checkpoint: step {formatCount(step)}
        {what === "Best" && best && `, ${best.metric} ${formatNumber(Number(best.value))}`},{" "}
        {formatBytes(bytes)}, saved <Ago ms={time_ms} />
      </span>
      <code title="In the folder that the nodes share">{path}</code>
    </p>
  );
}

function BarRow({ bar, line }: { bar: Bar; line: TimeLine }) {
  const { attempt } = bar;
  const right = bar.left + bar.width;
  const within = line.checkpoints.filter(({ left }) => left >= bar.left && left <= right);
  const checkpoints = spaced(within);
  return (
    <div class="time-line-row">
      <span
        class={`attempt-bar end-${attempt.end ?? "running"}`}
        style={{ left: percent(bar.left), width: percent(bar.width) }}
      >
        <span
          class="attempt-bar-starting"
          style={{ width: bar.width > 0 ? percent(bar.startingWidth / bar.width) : "0" }}
        />
        <span class="attempt-bar-label">{attempt.number}</span>
      </span>
      {checkpoints.map((checkpoint) => (
        <span key={checkpoint.timeMs} class="attempt-checkpoint" style={{ left: percent(checkpoint.left) }} />
      ))}
    </div>
  );
}

function AttemptLine({ attempt }: { attempt: Attempt }) {
  const started = attempt.started_ms ?? attempt.created_ms;
  return (
    <li>
      <span class={`end-dot end-${attempt.end ?? "running"}`} aria-hidden="true" />
      <strong>Attempt {attempt.number}</strong>
      <span>{attempt.end ? attempt.end.replace("_", " ") : "running"}</span>
      {attempt.first_step !== null && (
        <span class="muted">
          steps {formatCount(attempt.first_step)}–{formatCount(attempt.last_step ?? attempt.first_step)}
        </span>
      )}
      <span class="muted">
        {attempt.ended_ms === null ? (
          <>
            since <Ago ms={started} />
          </>
        ) : (
          <span title={`${formatAbsolute(started)} – ${formatAbsolute(attempt.ended_ms)}`}>
            {formatDuration((attempt.ended_ms - started) / 1000)}
          </span>
        )}
      </span>
      {attempt.reason && <span class="attempt-reason">{attempt.reason}</span>}
    </li>
  );
}

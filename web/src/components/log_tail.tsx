// The log of one task: follows its end until the reader scrolls up, and again once they are back at the bottom.
import type { TargetedEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JobDetail } from "../api/types";
import { route, setParams } from "../state/router";
import { Choice } from "./chart_settings";
import { useLog } from "./use_log";

const nearBottom = 24;

export function LogTail({ job }: { job: JobDetail }) {
  const { params } = route.value;
  const attempts = job.attempts;
  const attempt = attempts.find(({ number }) => number === Number(params.get("attempt"))) ?? attempts.at(-1);
  if (!attempt) return <p class="muted panel-text">No attempt has started, so there is no log.</p>;
  const rank = Number(params.get("rank") ?? 0);
  const stream = params.get("stream") === "stdout" ? "stdout" : "stderr";
  return (
    <div class="log">
      <div class="log-toolbar">
        <label>
          Attempt
          <select
            value={attempt.number}
            onChange={(event) => setParams({ attempt: event.currentTarget.value })}
          >
            {attempts.map(({ number }) => (
              <option key={number} value={number}>
                {number}
              </option>
            ))}
          </select>
        </label>
        <label>
          Rank
          <select value={rank} onChange={(event) => setParams({ rank: event.currentTarget.value })}>
            {attempt.tasks.map((task) => (
              <option key={task.rank} value={task.rank}>
                {task.rank} · {task.node}
              </option>
            ))}
          </select>
        </label>
        <Choice
          label="Stream"
          value={stream}
          options={[
            ["stderr", "stderr"],
            ["stdout", "stdout"],
          ]}
          onChange={(value) => setParams({ stream: value === "stderr" ? null : value })}
        />
      </div>
      <LogText
        job={job.id}
        attempt={attempt.number}
        rank={rank}
        stream={stream}
        growing={attempt.ended_ms === null}
      />
    </div>
  );
}

interface TextProperties {
  job: number;
  attempt: number;
  rank: number;
  stream: "stdout" | "stderr";
  growing: boolean;
}

function LogText({ job, attempt, rank, stream, growing }: TextProperties) {
  const { text, error, loading } = useLog(job, { attempt, rank, stream }, growing);
  const box = useRef<HTMLPreElement>(null);
  const [following, setFollowing] = useState(true);
  const toBottom = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (following) toBottom();
  }, [text, following]);
  // Scrolling is told late, when the box may have gone from `box` already.
  const onScroll = (event: TargetedEvent<HTMLPreElement>) => {
    const element = event.currentTarget;
    setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < nearBottom);
  };
  return (
    <div class="log-frame">
      <pre
        ref={box}
        class="log-text"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={`Log of rank ${rank}, ${stream}`}
        onScroll={onScroll}
      >
        {text}
        {!text && (
          <span class="muted">{loading ? "Loading…" : error ? "" : `Nothing written to ${stream} yet.`}</span>
        )}
        {error && <span class="error-text">{error}</span>}
      </pre>
      {!following && (
        <button type="button" class="button log-follow" onClick={() => setFollowing(true)}>
          Paused. Follow the end ↓
        </button>
      )}
    </div>
  );
}

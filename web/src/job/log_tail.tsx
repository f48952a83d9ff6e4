// The log of one task. It follows its end until the reader scrolls up, and again once the reader is back at the bottom.
import type { TargetedEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Attempt, JobDetail } from "../api/types";
import { commandOf } from "../model/command";
import { isEmptyLog } from "../model/log_text";
import { route, setParams } from "../state/router";
import { Choice } from "../ui/choice";
import { useLog } from "../hooks/use_log";
import { RankChoice } from "./rank_choice";

const nearBottom = 24;

export function LogTail({ job }: { job: JobDetail }) {
  const { params } = route.value;
  const attempts = job.attempts;
  const attempt = attempts.find(({ number }) => number === Number(params.get("attempt"))) ?? attempts.at(-1);
  if (!attempt) return <p class="muted panel-text">There is no log because the job has not started.</p>;
  const rank = Number(params.get("rank") ?? 0);
  return <Log key={`${attempt.number} ${rank}`} job={job} attempt={attempt} rank={rank} />;
}

type Stream = "stdout" | "stderr";

/** The stream that the reader chose, or the one with output: training writes to stderr, most other programs to stdout. */
function useStream(job: JobDetail): { stream: Stream; noteEmpty(stream: Stream): void } {
  const [empty, setEmpty] = useState<readonly Stream[]>([]);
  const chosen = route.value.params.get("stream");
  const [first, other]: [Stream, Stream] = commandOf(job.spec) ? ["stdout", "stderr"] : ["stderr", "stdout"];
  const guess = empty.includes(first) && !empty.includes(other) ? other : first;
  return {
    stream: chosen === "stdout" || chosen === "stderr" ? chosen : guess,
    noteEmpty: (stream) => setEmpty((old) => (old.includes(stream) ? old : [...old, stream])),
  };
}

function Log({ job, attempt, rank }: { job: JobDetail; attempt: Attempt; rank: number }) {
  const { stream, noteEmpty } = useStream(job);
  return (
    <div class="log">
      <div class="panel-toolbar">
        <label>
          Attempt
          <select
            class="line-field"
            value={attempt.number}
            onChange={(event) => setParams({ attempt: event.currentTarget.value })}
          >
            {job.attempts.map(({ number }) => (
              <option key={number} value={number}>
                {number}
              </option>
            ))}
          </select>
        </label>
        <RankChoice tasks={attempt.tasks} rank={rank} />
        <Choice
          label="Stream"
          value={stream}
          options={[
            ["stderr", "stderr"],
            ["stdout", "stdout"],
          ]}
          onChange={(value) => setParams({ stream: value })}
        />
      </div>
      <LogText
        job={job.id}
        attempt={attempt.number}
        rank={rank}
        stream={stream}
        growing={attempt.ended_ms === null}
        onEmpty={noteEmpty}
      />
    </div>
  );
}

interface TextProperties {
  job: number;
  attempt: number;
  rank: number;
  stream: Stream;
  growing: boolean;
  onEmpty(stream: Stream): void;
}

function LogText({ job, attempt, rank, stream, growing, onEmpty }: TextProperties) {
  const [following, setFollowing] = useState(true);
  const { parts, error, loading } = useLog(job, { attempt, rank, stream }, growing, following);
  const unwritten = isEmptyLog(parts);
  const empty = unwritten && !error && !loading;
  useEffect(() => {
    if (empty) onEmpty(stream);
  }, [empty, stream]);
  const box = useRef<HTMLPreElement>(null);
  const toBottom = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (following) toBottom();
  }, [parts, following]);
  // The scroll event may arrive after the box has left `box`.
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
        {parts.texts.map((text, index) => (
          <div key={parts.first + index}>{text}</div>
        ))}
        {unwritten && (
          <span class="muted">
            {loading ? "Loading…" : error ? "" : `Nothing written to ${stream}${growing ? " yet" : ""}.`}
          </span>
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

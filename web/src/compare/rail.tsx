// The list of compared jobs. What the reader changes here applies to every table and chart of the page, and is in the
// address.
import type { Comparison, Job } from "../api/types";
import type { Signal } from "@preact/signals";
import { formatNumber } from "../format/numbers";
import { writeNumbers, type CompareSettings } from "../model/compare_address";
import { apart, marksOf, moved, numberOf } from "../model/comparison";
import { pushParams, setParams } from "../state/router";
import { JobStateBadge } from "../ui/badges";
import { CloseIcon, EyeIcon, PinIcon } from "../ui/icons";
import { Swatch } from "./job_tag";

interface Properties {
  settings: CompareSettings;
  comparison: Comparison;
  /** The jobs by id, as they are now. */
  live: ReadonlyMap<number, Job>;
  /** The job that the reader points at: the curves of the others are drawn faintly. */
  lit: Signal<number | null>;
}

export function Rail({ settings, comparison, live, lit }: Properties) {
  const { jobs: ids, hidden } = settings;
  const jobs = new Map(comparison.jobs.map((job) => [job.id, live.get(job.id) ?? job]));
  const names = comparison.jobs.map(({ name }) => name);
  const { rests } = apart(names);
  const rest = new Map(comparison.jobs.map(({ id, name }, index) => [id, rests[index] || name]));
  const remove = (id: number) =>
    pushParams({
      jobs: writeNumbers(ids.filter((each) => each !== id)),
      hide: writeNumbers([...hidden].filter((each) => each !== id)),
      base: settings.base === id ? null : (settings.base?.toString() ?? null),
    });
  const light = (id: number | null) => {
    lit.value = id;
  };
  const alone = (id: number) => setParams({ hide: writeNumbers(ids.filter((each) => each !== id)) });
  const toggle = (id: number) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setParams({ hide: writeNumbers(next) });
  };
  const onKeyDown = (event: KeyboardEvent, id: number) => {
    const by = ({ ArrowUp: -1, ArrowDown: 1 } as const)[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    pushParams({ jobs: writeNumbers(moved(ids, id, by)) });
  };
  return (
    <ol
      class="compare-rail panel"
      aria-label="Jobs"
      aria-description="Alt and an arrow key move a job up or down"
    >
      {ids.map((id, slot) => {
        const job = jobs.get(id);
        return (
          <li
            key={id}
            class={hidden.has(id) ? "is-hidden" : ""}
            onKeyDown={(event) => onKeyDown(event, id)}
            onPointerEnter={() => light(id)}
            onPointerLeave={() => light(null)}
            onFocusIn={() => light(id)}
            onFocusOut={() => light(null)}
          >
            <Swatch slot={slot} />
            <a class="number" href={`#/jobs/${id}`}>
              {id}
            </a>
            {job ? (
              <RailJob job={job} name={rest.get(id)!} marks={marksOf(job, comparison)} />
            ) : (
              <span class="rail-title error-text" role="alert">
                there is no job {id}
              </span>
            )}
            <span class="rail-actions">
              {job && (
                <>
                  <button
                    type="button"
                    class="icon-button"
                    aria-pressed={!hidden.has(id)}
                    aria-label={`Curves of job ${id}`}
                    title={`${hidden.has(id) ? "Show" : "Hide"} its curves; with Alt, show them alone`}
                    onClick={({ altKey }) => (altKey ? alone(id) : toggle(id))}
                  >
                    <EyeIcon closed={hidden.has(id)} />
                  </button>
                  <button
                    type="button"
                    class="icon-button"
                    aria-pressed={comparison.base === id}
                    aria-label={`Compare with job ${id}`}
                    title="Compare the other jobs with this one"
                    onClick={() => setParams({ base: String(id) })}
                  >
                    <PinIcon />
                  </button>
                </>
              )}
              <button
                type="button"
                class="icon-button"
                aria-label={`Remove job ${id}`}
                title="Remove it"
                onClick={() => remove(id)}
              >
                <CloseIcon />
              </button>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function RailJob({ job, name, marks }: { job: Job; name: string; marks: string[] }) {
  const best = numberOf(job.target?.best);
  return (
    <>
      <span class="rail-title" title={job.name}>
        {name}
      </span>
      <span class="rail-facts">
        <JobStateBadge state={job.state} />
        {best !== null && (
          <span class="number" title={`Best of ${job.target!.metric}`}>
            {formatNumber(best)}
          </span>
        )}
        {marks.length > 0 && <span class="muted">{marks.join(", ")}</span>}
      </span>
    </>
  );
}

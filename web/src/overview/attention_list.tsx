// What needs a person, the most urgent first, each with a link to where something can be done.
import type { Attention } from "../model/overview";
import { formatCount } from "../model/numbers";
import { route, setParams } from "../state/router";
import { Ago } from "../ui/badges";
import { Button } from "../ui/button";
import { Info } from "../ui/info";

const shownAtFirst = 8;

interface Properties {
  all: readonly Attention[];
  /** What could not be read, each in a sentence. */
  missing: readonly string[];
}

export function AttentionList({ all, missing }: Properties) {
  const whole = route.value.params.get("attention") === "all";
  const shown = whole ? all : all.slice(0, shownAtFirst);
  return (
    <section class="panel" aria-label="Needs attention">
      <header class="panel-head">
        <h2>Needs attention</h2>
        <span class="muted">{formatCount(all.length)}</span>
        <Info of="what needs attention">
          Lost and silent nodes, nodes that are drained until somebody resumes them, sick devices, tasks that
          nobody ordered, clocks that are off, jobs that failed within a day (of the newest 100), refused
          specs, held jobs that were submitted over a day ago. Not looked at: jobs without a step for long,
          accounts kept below their quota, tasks that cannot be ended.
        </Info>
      </header>
      {missing.map((text) => (
        <p key={text} class="error-text panel-text" role="alert">
          {text}
        </p>
      ))}
      {all.length === 0 && missing.length === 0 && <p class="panel-text good">Nothing that is looked at.</p>}
      <ul class="attention">
        {shown.map(({ key, text, href, rank, sinceMs }) => (
          <li key={key} class={rank <= 3 ? "is-bad" : ""}>
            <a href={href}>{text}</a>
            {sinceMs !== null && (
              <span class="muted">
                <Ago ms={sinceMs} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {all.length > shownAtFirst && (
        <p class="panel-text">
          <Button small onPress={() => setParams({ attention: whole ? null : "all" })}>
            {whole ? `Show the first ${shownAtFirst}` : `Show all ${formatCount(all.length)}`}
          </Button>
        </p>
      )}
    </section>
  );
}

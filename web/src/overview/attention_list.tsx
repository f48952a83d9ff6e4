// What needs attention, the most urgent first, each with a link to where somebody can act. The reader can hide an entry for
// a day, in this browser alone.
import { formatCount } from "../format/numbers";
import type { Attention, Sorted } from "../model/overview";
import { hideForADay, showAgain } from "../state/hidden";
import { route, setParams } from "../state/router";
import { Button } from "../ui/button";
import { EyeIcon } from "../ui/icons";
import { Info } from "../ui/info";
import { Ago } from "../ui/times";

const shownAtFirst = 8;

interface Properties {
  all: Sorted;
  /** What could not be read, one sentence each. */
  missing: readonly string[];
}

export function AttentionList({ all: { shown, hidden }, missing }: Properties) {
  const wanted = route.value.params.get("attention");
  const ofHidden = wanted === "hidden" && hidden.length > 0;
  const all = ofHidden ? hidden : shown;
  const rows = wanted === null ? all.slice(0, shownAtFirst) : all;
  return (
    <section class="panel" aria-label="Needs attention">
      <header class="panel-head">
        <h2>{ofHidden ? "Hidden for a day" : "Needs attention"}</h2>
        <span class="muted">{formatCount(all.length)}</span>
        <Info of="what needs attention">
          This list shows lost and silent nodes, nodes drained without an end, sick devices, tasks that this
          coordinator did not start, wrong clocks, jobs that failed within a day (of the newest 100), refused
          specs, and held jobs that are older than a day. It does not show jobs that make no steps, accounts
          kept below their quota, or tasks that cannot be ended. Hidden entries come back after a day, or at
          once if they happen again. Other browsers still show them.
        </Info>
      </header>
      {missing.map((text) => (
        <p key={text} class="error-text panel-text" role="alert">
          {text}
        </p>
      ))}
      {all.length === 0 && missing.length === 0 && (
        <p class="panel-text good">
          {hidden.length === 0 ? "Nothing needs attention." : "Nothing except what is hidden."}
        </p>
      )}
      <ul class="attention">
        {rows.map((each) => (
          <Row key={each.key} of={each} isHidden={ofHidden} />
        ))}
      </ul>
      <Switches shown={shown.length} hidden={hidden.length} wanted={ofHidden ? "hidden" : wanted} />
    </section>
  );
}

function Row({ of: { key, text, href, rank, sinceMs }, isHidden }: { of: Attention; isHidden: boolean }) {
  return (
    <li class={rank <= 3 ? "is-bad" : ""}>
      <a href={href}>{text}</a>
      <span class="attention-end">
        {sinceMs !== null && (
          <span class="muted">
            <Ago ms={sinceMs} />
          </span>
        )}
        <button
          type="button"
          class="icon-button"
          aria-label={`${isHidden ? "Show again" : "Hide for a day"}: ${text}`}
          title={isHidden ? "Show it again" : "Hide it for a day"}
          onClick={() => (isHidden ? showAgain(key) : hideForADay(key))}
        >
          <EyeIcon closed={!isHidden} />
        </button>
      </span>
    </li>
  );
}

interface SwitchesProperties {
  shown: number;
  hidden: number;
  wanted: string | null;
}

function Switches({ shown, hidden, wanted }: SwitchesProperties) {
  const to = (attention: string | null) => () => setParams({ attention });
  const isLong = shown > shownAtFirst;
  if (!isLong && hidden === 0) return null;
  return (
    <p class="panel-text attention-switches">
      {wanted === "hidden" ? (
        <Button small onPress={to(null)}>
          Back to what needs attention
        </Button>
      ) : (
        <>
          {isLong && (
            <Button small onPress={to(wanted === null ? "all" : null)}>
              {wanted === null ? `Show all ${formatCount(shown)}` : `Show the first ${shownAtFirst}`}
            </Button>
          )}
          {hidden > 0 && (
            <Button small onPress={to("hidden")}>
              Show {formatCount(hidden)} hidden
            </Button>
          )}
        </>
      )}
    </p>
  );
}

// Operations on all selected jobs at once. Each button counts the jobs that it applies to. A button that loses work asks
// first.
import { useState } from "preact/hooks";
import { formatCount } from "../format/numbers";
import { useOperation } from "../hooks/use_operation";
import { compareHash, mostJobs } from "../model/compare_address";
import { offerFor, type Offer, type Operated } from "../model/operations";
import { mayChange } from "../state/token";
import { Button } from "../ui/button";
import { ConfirmButton, ProblemText } from "../ui/operation_dialog";
import { PriorityButton } from "./priority_button";
import { operateAll, type Together } from "./together";

const inWords = (count: number) => (count === 1 ? "1 job" : `${formatCount(count)} jobs`);
const countJobs = (jobs: readonly Operated[]) => inWords(jobs.length);

interface Properties {
  jobs: readonly Operated[];
  onClear(): void;
}

/** Refusals are shown even when nothing is selected any more. */
export function SelectedJobs(properties: Properties) {
  const [told, setTold] = useState<Together | null>(null);
  return (
    <>
      {properties.jobs.length > 0 && <Bar {...properties} onDone={setTold} />}
      {told && told.refusals.length > 0 && <Refused told={told} onClose={() => setTold(null)} />}
    </>
  );
}

const mostTold = 10;

function Refused({ told: { done, refusals }, onClose }: { told: Together; onClose(): void }) {
  const untold = refusals.length - mostTold;
  return (
    <div class="panel panel-text" role="alert">
      <strong>
        Done for {inWords(done)}, refused for {inWords(refusals.length)}
      </strong>
      <ul>
        {refusals.slice(0, mostTold).map((refusal) => (
          <li key={refusal}>{refusal}</li>
        ))}
        {untold > 0 && <li>and {inWords(untold)} more</li>}
      </ul>
      <Button small onPress={onClose}>
        Close
      </Button>
    </div>
  );
}

function Bar({ jobs, onClear, onDone }: Properties & { onDone(told: Together): void }) {
  const direct = useOperation();
  const fitting = (what: keyof Offer) => (mayChange.value ? jobs.filter((job) => offerFor(job)[what]) : []);
  const button = (operation: "hold" | "release", text: string) => {
    const some = fitting(operation);
    return (
      some.length > 0 && (
        <Button
          small
          disabled={direct.busy}
          onPress={() => void direct.run(operateAll(some, operation), onDone)}
        >
          {text} {formatCount(some.length)}
        </Button>
      )
    );
  };
  const ranked = fitting("priority");
  const cancelled = fitting("cancel");
  return (
    <div class="toolbar" role="group" aria-label="Selected jobs">
      <strong>{countJobs(jobs)} selected</strong>
      {jobs.length > 1 && jobs.length <= mostJobs && (
        <a class="button button-small" href={compareHash(jobs.map(({ id }) => id).sort((a, b) => a - b))}>
          Compare {formatCount(jobs.length)}
        </a>
      )}
      {button("hold", "Hold")}
      {button("release", "Release")}
      {ranked.length > 0 && (
        <PriorityButton
          small
          jobs={ranked}
          label={`Priority of ${formatCount(ranked.length)}…`}
          of={countJobs(ranked)}
          onDone={onDone}
        />
      )}
      {cancelled.length > 0 && (
        <ConfirmButton
          small
          label={`Cancel ${formatCount(cancelled.length)}…`}
          title={`Cancel ${countJobs(cancelled)}?`}
          action={cancelled.length === 1 ? "Cancel the job" : "Cancel the jobs"}
          danger
          keep="Keep them"
          run={operateAll(cancelled, "cancel")}
          done={(told) => {
            onDone(told);
            onClear();
          }}
        >
          <p>The jobs stop. Their metrics, logs and checkpoints stay. A requeue continues them.</p>
        </ConfirmButton>
      )}
      <Button small onPress={onClear}>
        Select none
      </Button>
      <ProblemText operation={direct} />
    </div>
  );
}

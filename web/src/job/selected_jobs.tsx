// What is done to all selected jobs at once. Each button counts those that it fits; one that loses work asks first.
import { useOperation } from "../hooks/use_operation";
import { operateJob, type JobOperation } from "../api/client";
import { compareHash, mostJobs } from "../model/compare_address";
import { formatCount } from "../model/numbers";
import { offerFor, type Offer, type Operated } from "../model/operations";
import { applyJob } from "../state/store";
import { mayChange } from "../state/token";
import { Button } from "../ui/button";
import { ConfirmButton, ProblemText } from "../ui/operation_dialog";
import { PriorityButton } from "./priority_button";

const countJobs = (jobs: readonly Operated[]) =>
  jobs.length === 1 ? "1 job" : `${formatCount(jobs.length)} jobs`;

/** One after the other; the first that is refused ends it, and what was done before stays. */
const operateAll = (jobs: readonly Operated[], operation: JobOperation) => async (token: string) => {
  for (const { id } of jobs) applyJob(await operateJob(id, operation, token));
  return true;
};

export function SelectedJobs({ jobs, onClear }: { jobs: readonly Operated[]; onClear(): void }) {
  const direct = useOperation();
  if (jobs.length === 0) return null;
  const fitting = (what: keyof Offer) => (mayChange.value ? jobs.filter((job) => offerFor(job)[what]) : []);
  const button = (operation: "hold" | "release", text: string) => {
    const some = fitting(operation);
    return (
      some.length > 0 && (
        <Button
          small
          disabled={direct.busy}
          onPress={() => void direct.run(operateAll(some, operation), () => undefined)}
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
          done={onClear}
        >
          <p>They stop for good; what they have recorded and their checkpoints stay.</p>
        </ConfirmButton>
      )}
      <Button small onPress={onClear}>
        Select none
      </Button>
      <ProblemText operation={direct} />
    </div>
  );
}

// The spec of the job: the YAML as written, the normalised form with every default, and its commit.
import { getExperiment } from "../api/client";
import type { JobDetail, Source } from "../api/types";
import { formatCount } from "../format/numbers";
import { toYaml } from "../model/yaml";
import { route, setParams } from "../state/router";
import { Choice } from "../ui/choice";
import { BranchIcon } from "../ui/icons";
import { useQuery } from "../hooks/use_query";

export function SpecView({ job }: { job: JobDetail }) {
  const form = route.value.params.get("spec") === "normalised" ? "normalised" : "written";
  const experiment = useQuery(`experiment ${job.experiment}`, (signal) =>
    getExperiment(job.experiment, signal),
  );
  const written = experiment.data?.spec ?? (experiment.error || "Loading…");
  return (
    <div class="spec">
      <div class="panel-toolbar">
        <Choice
          label="Form of the spec"
          value={form}
          options={[
            ["written", "As written"],
            ["normalised", "With every default"],
          ]}
          onChange={(value) => setParams({ spec: value === "written" ? null : value })}
        />
        <SourceLine source={job.source ?? experiment.data?.source ?? null} />
        {job.text && <span class="muted">{textLine(job.text)}</span>}
        {job.origin && <span class="muted">{originLine(job.origin)}</span>}
      </div>
      <pre class="code" tabIndex={0} aria-label={form === "written" ? "Spec as written" : "Normalised spec"}>
        {form === "written" ? written : toYaml(job.spec)}
      </pre>
    </div>
  );
}

/** "trained on 812,344 tokens of text, XXH3 5b1c0f2ad6e97c43". The hash tells one text from another. */
const textLine = ({ tokens, xxh3 }: NonNullable<JobDetail["text"]>) =>
  `trained on ${formatCount(tokens)} tokens of text, XXH3 ${xxh3}`;

/** "begun with step 200 of 7/checkpoints/step-00000200, XXH3 …": of the path its end, which has the job. */
const originLine = ({ path, step, xxh3 }: NonNullable<JobDetail["origin"]>) =>
  `begun with ${step > 0 ? `step ${formatCount(step)} of ` : ""}${path.split("/").slice(-3).join("/")}, XXH3 ${xxh3}`;

export function SourceLine({ source }: { source: Source | null }) {
  if (!source?.commit) return <span class="muted">Not from a git repository</span>;
  return (
    <span class="source">
      <BranchIcon />
      <code title={source.commit}>{source.commit.slice(0, 12)}</code>
      {source.path && <span>{source.path}</span>}
      {source.repository && <span class="muted">{source.repository}</span>}
      {source.dirty && (
        <span
          class="source-dirty"
          title="The working tree had changes that were not committed: the commit alone does not reproduce this job."
        >
          with uncommitted changes
        </span>
      )}
    </span>
  );
}

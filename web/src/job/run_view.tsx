// What MLflow's clients have logged of a job: parameters, tags and artifacts.
import type { JobDetail, TrackedText, Tracking } from "../api/types";
import { useTracking } from "../hooks/use_tracking";
import { AsOf } from "../ui/as_of";
import { NotYet } from "../ui/notice";
import { ArtifactList } from "./artifact_list";
import "../styles/run_view.css";

/** Of a job that Podium schedules, what its spec says stands elsewhere. */
const logged = (texts: readonly TrackedText[]) => texts.filter(({ submitted }) => !submitted);

export function RunView({ job }: { job: JobDetail }) {
  const shown = useTracking(job);
  const { data: run } = shown;
  if (!run) return <NotYet what="what was logged" shown={shown} />;
  return (
    <div class="run-view">
      <p class="panel-text muted">
        <AsOf shown={shown} /> Run <code>{run.run_id}</code>
        {run.user && job.tracked && ` of ${run.user}`}
      </p>
      <Texts title="Parameters" texts={logged(run.params)} />
      <Texts title="Tags" texts={logged(run.tags)} />
      <Artifacts job={job} run={run} />
    </div>
  );
}

function Texts({ title, texts }: { title: string; texts: readonly TrackedText[] }) {
  return (
    <section aria-label={title}>
      <h3>
        {title} <span class="muted number">{texts.length}</span>
      </h3>
      {texts.length === 0 ? (
        <p class="muted panel-text">None logged.</p>
      ) : (
        <table class="run-texts">
          <tbody>
            {texts.map(({ key, value }) => (
              <tr key={key}>
                <th scope="row">{key}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Artifacts({ job, run }: { job: JobDetail; run: Tracking }) {
  return (
    <section aria-label="Artifacts">
      <h3>Artifacts</h3>
      {run.artifacts === "" ? (
        <p class="muted panel-text">They are kept elsewhere, where the experiment says.</p>
      ) : (
        <ArtifactList job={job} root={run.artifacts} />
      )}
    </section>
  );
}

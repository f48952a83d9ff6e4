// The reader pastes a spec, sees every problem at its line, and submits it.
import { useState } from "preact/hooks";
import { submitSpec, validateSpec } from "../api/client";
import { explain, Problem } from "../api/problem";
import type { Job } from "../api/types";
import { useEditor } from "../submit/use_editor";
import { Button } from "../ui/button";
import { readProblems, type SpecProblem } from "../model/spec_problems";
import { toYaml } from "../model/yaml";
import { draftKey, draftSubmitted } from "../state/draft";
import { applyJob } from "../state/store";
import { withToken } from "../state/token";
import "../styles/submit.css";

type Outcome =
  | { is: "nothing" }
  | { is: "working"; what: string }
  | { is: "valid"; jobs: number; normalised: unknown }
  | { is: "wrong"; problems: SpecProblem[] }
  | { is: "failed"; why: string }
  | { is: "submitted"; jobs: Job[] };

export function SubmitPage() {
  const [outcome, setOutcome] = useState<Outcome>({ is: "nothing" });
  const { host, editor, error } = useEditor(() =>
    setOutcome((now) => (now.is === "valid" ? { is: "nothing" } : now)),
  );

  const run = async (what: string, action: (spec: string, token: string) => Promise<Outcome>) => {
    const spec = editor.current?.text();
    if (spec === undefined) return;
    setOutcome({ is: "working", what });
    let next: Outcome;
    try {
      next = (await withToken((token) => action(spec, token))) ?? { is: "nothing" };
    } catch (failure) {
      next = outcomeOf(failure);
    }
    editor.current?.show(next.is === "wrong" ? next.problems : []);
    setOutcome(next);
  };
  const validate = () =>
    run("Validating…", async (spec, token) => {
      const { jobs, normalised } = await validateSpec(spec, token);
      return { is: "valid", jobs, normalised };
    });
  const submit = () =>
    run("Submitting…", async (spec, token) => {
      const { jobs } = await submitSpec(spec, draftKey(spec), token);
      draftSubmitted();
      jobs.forEach(applyJob);
      return { is: "submitted", jobs };
    });

  const working = outcome.is === "working";
  return (
    <div class="page page-fill submit-page">
      <header class="page-header">
        <h1>Submit an experiment</h1>
        <span class="page-actions">
          <Button disabled={working} onPress={() => void validate()}>
            Validate
          </Button>
          <Button kind="primary" disabled={working} onPress={() => void submit()}>
            Submit
          </Button>
        </span>
      </header>
      <div class="submit-columns">
        <div class="panel editor-frame">
          {error && <p class="error-text panel-text">{error}</p>}
          <div ref={host} class="editor" />
        </div>
        <section class="panel submit-outcome" aria-label="Result">
          <OutcomeView outcome={outcome} goTo={(line) => editor.current?.goTo(line)} />
        </section>
      </div>
    </div>
  );
}

function outcomeOf(failure: unknown): Outcome {
  if (failure instanceof Problem && failure.errors.length > 0) {
    return { is: "wrong", problems: readProblems(failure.errors) };
  }
  return { is: "failed", why: explain(failure) };
}

function OutcomeView({ outcome, goTo }: { outcome: Outcome; goTo(line: number): void }) {
  switch (outcome.is) {
    case "nothing":
      return (
        <p class="muted">
          Validate shows every problem at its line and queues nothing. Submit queues the jobs. In the editor,
          Tab indents; Escape and then Tab leave it.
        </p>
      );
    case "working":
      return (
        <p class="muted" role="status">
          {outcome.what}
        </p>
      );
    case "failed":
      return (
        <p class="error-text" role="alert">
          {outcome.why}
        </p>
      );
    case "valid":
      return (
        <>
          <p class="good" role="status">
            Valid: {outcome.jobs === 1 ? "1 job" : `${outcome.jobs} jobs`}. With every default:
          </p>
          <pre class="code" tabIndex={0} aria-label="Normalised spec">
            {toYaml(outcome.normalised)}
          </pre>
        </>
      );
    case "wrong":
      return <Problems problems={outcome.problems} goTo={goTo} />;
    case "submitted":
      return (
        <>
          <p class="good" role="status">
            Submitted.
          </p>
          <ul>
            {outcome.jobs.map((job) => (
              <li key={job.id}>
                <a href={`#/jobs/${job.id}`}>
                  Job {job.id}: {job.name}
                </a>
              </li>
            ))}
          </ul>
        </>
      );
  }
}

function Problems({ problems, goTo }: { problems: readonly SpecProblem[]; goTo(line: number): void }) {
  return (
    <>
      <p class="error-text" role="alert">
        {problems.length === 1 ? "1 problem" : `${problems.length} problems`}; nothing was queued.
      </p>
      <ol class="submit-problems">
        {problems.map((problem, index) => (
          <li key={index}>
            {problem.line !== null && (
              <Button small onPress={() => goTo(problem.line!)}>
                line {problem.line}
              </Button>
            )}
            <span>{problem.message}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

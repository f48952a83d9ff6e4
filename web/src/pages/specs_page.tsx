// The git repositories that the coordinator watches: what became of each spec, and why those that were refused were.
import type { SpecFile, SpecRepository } from "../api/types";
import { formatCount } from "../format/numbers";
import { useSpecs } from "../hooks/use_specs";
import {
  countSpecs,
  placeOf,
  shownSpecs,
  specFilterFrom,
  specStates,
  toggledSpecState,
  type SpecState,
} from "../model/specs";
import { route } from "../state/router";
import { AsOf } from "../ui/as_of";
import { FilterBox } from "../ui/filter_box";
import { BranchIcon, SpecStateIcon } from "../ui/icons";
import { Notice, NotYet } from "../ui/notice";
import { StateChips } from "../ui/state_chips";
import { Ago } from "../ui/times";
import "../styles/specs.css";

const refreshMs = 15_000;
/** Of one repository. */
const mostRows = 500;

export function SpecsPage() {
  const list = useSpecs(refreshMs);
  return (
    <div class="page">
      <header class="page-header">
        <h1>Specs in git</h1>
        <AsOf shown={list} />
        <p class="muted explanation">
          A spec that a commit adds to one of these repositories, or changes there, becomes an{" "}
          <a href="#/experiments">experiment</a>.
        </p>
      </header>
      {list.data ? (
        <Repositories repositories={list.data} />
      ) : (
        <NotYet what="the specs in git" shown={list} />
      )}
    </div>
  );
}

function Repositories({ repositories }: { repositories: readonly SpecRepository[] }) {
  const { params } = route.value;
  const filter = specFilterFrom(params);
  const all = repositories.flatMap(({ specs }) => specs);
  const found = repositories.map((repository) => ({
    repository,
    specs: shownSpecs(repository.specs, filter),
  }));
  if (repositories.length === 0)
    return (
      <Notice kind="empty" title="No repository is watched">
        Start <code>podium-coordinator --specs URL</code> to watch one.
      </Notice>
    );
  const shown = found.reduce((sum, { specs }) => sum + specs.length, 0);
  return (
    <>
      <div class="toolbar">
        <FilterBox value={filter.text} label="Filter specs" placeholder="Filter by path" />
        <StateChips
          states={specStates}
          chosen={filter.states}
          counts={countSpecs(all)}
          icon={(state) => <SpecStateIcon state={state} />}
          className={(state) => `spec-${state}`}
          toggled={(state) => toggledSpecState(filter.states, state)}
        />
        <span class="toolbar-summary muted" role="status">
          {formatCount(shown)} {shown === 1 ? "spec" : "specs"}
        </span>
      </div>
      {found.map(({ repository, specs }) => (
        <Repository key={repository.name} repository={repository} specs={specs} />
      ))}
    </>
  );
}

function Repository({ repository, specs }: { repository: SpecRepository; specs: readonly SpecFile[] }) {
  const { name, url, branch, files, commit, checked_ms: checkedMs, error } = repository;
  const filtered = repository.specs.length > specs.length;
  return (
    <section class="list-section" aria-label={`Repository ${name}`}>
      <header class="list-head">
        <h2>{name}</h2>
        <span class="source muted">
          {(commit || branch) && <BranchIcon />}
          {commit && <code title={commit}>{commit.slice(0, 12)}</code>}
          {branch && <span>{branch}</span>}
          <span class="spec-url">{url}</span>
          <code title="Which of its files are specs">{files}</code>
        </span>
        <span class="muted">
          {checkedMs === null ? (
            "not looked at yet"
          ) : (
            <>
              looked at <Ago ms={checkedMs} />
            </>
          )}
        </span>
      </header>
      {error && (
        <p class="error-text" role="status">
          The last look failed: {error}
        </p>
      )}
      {specs.length > 0 ? (
        <SpecTable name={name} specs={specs} />
      ) : (
        <p class="muted">
          {filtered ? "No spec of it matches this filter." : commit ? "It has no spec." : ""}
        </p>
      )}
    </section>
  );
}

function SpecTable({ name, specs }: { name: string; specs: readonly SpecFile[] }) {
  return (
    <div class="panel scroll-x" tabIndex={0} role="region" aria-label={`Specs of ${name}`}>
      <table class="table cards specs">
        <thead>
          <tr>
            <th>Spec</th>
            <th>Became</th>
            <th>Commit</th>
          </tr>
        </thead>
        <tbody>
          {specs.slice(0, mostRows).map((spec) => (
            <Spec key={spec.path} spec={spec} />
          ))}
        </tbody>
      </table>
      {specs.length > mostRows && (
        <p class="panel-text muted">
          The first {formatCount(mostRows)} of {formatCount(specs.length)}; the filter finds the others.
        </p>
      )}
    </div>
  );
}

const words: Record<SpecState, string> = {
  refused: "refused",
  submitted: "submitted",
  left: "left as it was",
};

function Spec({ spec }: { spec: SpecFile }) {
  const { path, commit, state, experiment, problems } = spec;
  return (
    <tr>
      <th scope="row" class="spec-path">
        {path}
        {problems.length > 0 && (
          <ul class="spec-problems">
            {problems.map((problem) => (
              <li key={`${problem.where} ${problem.message}`}>
                <span class="number">{placeOf(problem)}</span> {problem.message}
              </li>
            ))}
          </ul>
        )}
      </th>
      <td data-title="Became">
        <span
          class={`badge spec-${state}`}
          title={
            state === "left"
              ? "It was there when the repository was first looked at, and is submitted once it changes"
              : undefined
          }
        >
          <SpecStateIcon state={state} />
          {experiment === null ? (
            words[state]
          ) : (
            <a href={`#/experiments/${experiment}`}>experiment {experiment}</a>
          )}
        </span>
      </td>
      <td data-title="Commit">
        <code title={commit}>{commit.slice(0, 12)}</code>
      </td>
    </tr>
  );
}

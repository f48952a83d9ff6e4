// The git repositories that the coordinator watches: the state of each spec, and why some were refused.
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
/** For each repository. */
const mostRows = 500;

export function SpecsPage() {
  const list = useSpecs(refreshMs);
  return (
    <div class="page">
      <header class="page-header">
        <h1>Specs in git</h1>
        <AsOf shown={list} />
        <p class="muted explanation">
          Each spec that a commit adds or changes in one of these repositories becomes an{" "}
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
          <code title="The files that are specs">{files}</code>
        </span>
        <span class="muted">
          {checkedMs === null ? (
            "not read yet"
          ) : (
            <>
              read <Ago ms={checkedMs} />
            </>
          )}
        </span>
      </header>
      {error && (
        <p class="error-text" role="status">
          The last attempt to read it failed: {error}
        </p>
      )}
      {specs.length > 0 ? (
        <SpecTable name={name} specs={specs} />
      ) : (
        <p class="muted">
          {filtered ? "None of its specs matches this filter." : commit ? "It has no specs." : ""}
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
          The first {formatCount(mostRows)} of {formatCount(specs.length)}. Use the filter to find the others.
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
              ? "The file was there when the repository was first read. A commit that changes it submits it"
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

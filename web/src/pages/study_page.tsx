// One study: how it scales or what its sweep found, published results beside it, and what to know before trusting its
// figures.
import type { Study } from "../api/types";
import { PublishedChoice } from "../board/published_choice";
import { formatPlain } from "../format/numbers";
import { usePublished, useStudy } from "../hooks/use_study";
import { useTitle } from "../hooks/use_title";
import { compareHash, mostJobs } from "../model/compare_address";
import { parametersText, publishedSentence, rateUnit, studyMarks, sweptPaths } from "../model/study";
import { route } from "../state/router";
import { Members, Warnings } from "../study/members";
import { AsOf } from "../ui/as_of";
import { lazy } from "../ui/lazy";
import { Notice, NotHere } from "../ui/notice";
import { StateCountList } from "../ui/state_counts";
import { Ago } from "../ui/times";
import "../styles/study.css";

const loading = <Notice kind="loading" title="Loading the charts…" />;
const ScalingView = lazy(async () => (await import("../study/scaling_view")).ScalingView, loading);
const AshaView = lazy(async () => (await import("../study/asha_view")).AshaView, null);
const SweepView = lazy(async () => (await import("../study/sweep_view")).SweepView, loading);

export function StudyPage({ id }: { id: number }) {
  const shown = useStudy(id);
  const study = shown.data;
  useTitle(study && `${study.name} · study ${id}`);
  if (!study)
    return (
      <div class="page">
        <h1 class="visually-hidden">Study {id}</h1>
        <NotHere what={`study ${id}`} all="studies" shown={shown} />
      </div>
    );
  return (
    <div class="page study-page">
      <header class="page-header">
        <h1>
          <span class="muted number">{id}</span> {study.name}
        </h1>
        <span class="muted">{describe(study)}</span>
        <StateCountList counts={study.states} />
        <AsOf shown={shown} />
        <span class="page-actions">
          <a href={compareHash(study.members.slice(0, mostJobs).map(({ job }) => job))}>Compare its jobs</a>
          <a href={`#/experiments/${id}`}>Experiment {id}</a>
          <span class="muted">
            created <Ago ms={study.created_ms} />
          </span>
        </span>
      </header>
      {study.asha && <AshaView study={study} asha={study.asha} />}
      {study.kind === "scaling" ? <Scaling study={study} /> : <SweepView study={study} />}
      <Warnings study={study} />
      {study.kind === "scaling" && <Members study={study} />}
    </div>
  );
}

function describe({ scaling, sweep }: Study): string {
  if (scaling) {
    const repeats = scaling.repeat > 1 ? `, ${scaling.repeat} seeds of each size` : "";
    return `${scaling.mode} scaling over ${scaling.devices.map((count) => formatPlain(count)).join(", ")} devices${repeats}`;
  }
  const paths = sweptPaths(sweep).map((path) => {
    const values = sweep?.[path];
    return Array.isArray(values) ? `${path} (${values.length})` : path;
  });
  return paths.length > 0 ? `sweep over ${paths.join(", ")}` : "sweep";
}

function Scaling({ study }: { study: Study }) {
  const all = usePublished();
  const benchmark = route.value.params.get("published");
  const published = (all.data ?? []).filter((row) => row.benchmark === benchmark);
  return (
    <>
      <section class="study-sentences" aria-label="In a sentence">
        {study.tables.map((table) => {
          const name = parametersText(table.parameters);
          return (
            <p key={name} class="study-sentence">
              {name && <span class="muted">{name}: </span>}
              {table.sentence}
            </p>
          );
        })}
        {published.length > 0 && <p class="muted">{publishedSentence(published, rateUnit(study))}</p>}
        {studyMarks(study).map((mark) => (
          <p key={mark} class="warn">
            {mark}
          </p>
        ))}
      </section>
      <PublishedChoice rows={all.data ?? []} benchmark={benchmark} />
      {all.error && (
        <p class="error-text" role="alert">
          The published results could not be loaded: {all.error}
        </p>
      )}
      <ScalingView study={study} published={published} />
    </>
  );
}

// Several jobs side by side: their outcomes, their curves and their differences.
import { useSignal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { getJobPage } from "../api/client";
import { AddJob } from "../compare/add_job";
import { Rail } from "../compare/rail";
import { Parameters, Results } from "../compare/tables";
import { useComparison } from "../hooks/use_comparison";
import { useQuery } from "../hooks/use_query";
import { useTitle } from "../hooks/use_title";
import { compareHash, compareSettings, type CompareSettings } from "../model/compare_address";
import { apart, offersOf } from "../model/comparison";
import { route } from "../state/router";
import { jobs } from "../state/store";
import { AsOf } from "../ui/as_of";
import { Button } from "../ui/button";
import { lazy } from "../ui/lazy";
import { Notice, NotYet } from "../ui/notice";
import "../styles/compare.css";

const loading = <Notice kind="loading" title="Loading the curves…" />;
const Overlay = lazy(async () => (await import("../compare/overlay")).Overlay, loading);

export function ComparePage() {
  const { params } = route.value;
  const settings = useMemo(() => compareSettings(params), [params]);
  return settings.jobs.length === 0 ? <NoJobs /> : <Compared settings={settings} />;
}

function Compared({ settings }: { settings: CompareSettings }) {
  const shown = useComparison(settings.jobs, settings.base);
  const comparison = shown.data;
  const live = jobs.value;
  const lit = useSignal<number | null>(null);
  const count = settings.jobs.length;
  const title = count === 1 ? `Compare job ${settings.jobs[0]}` : `Compare ${count} jobs`;
  const common = comparison ? apart(comparison.jobs.map(({ name }) => name)).common : "";
  useTitle(common ? `${title} · ${common}` : title);
  return (
    <div class="page compare-page">
      <header class="page-header">
        <h1>{title}</h1>
        {common && <span class="muted compare-common">{common}</span>}
        <AsOf shown={shown} />
        <span class="page-actions">
          <AddJob jobs={settings.jobs} />
          <CopyLink />
        </span>
      </header>
      {!comparison ? (
        <Missing settings={settings} shown={shown} />
      ) : (
        <div class="rail-columns">
          <Rail settings={settings} comparison={comparison} live={live} lit={lit} />
          <div class="rail-main">
            {count === 1 && (
              <Notice kind="empty" title="A comparison needs two jobs">
                Add another above, by its number or its name.
              </Notice>
            )}
            <Results settings={settings} comparison={comparison} />
            <Overlay settings={settings} comparison={comparison} live={live} lit={lit} />
            {count > 1 && <Parameters settings={settings} comparison={comparison} />}
          </div>
        </div>
      )}
    </div>
  );
}

function Missing({
  settings,
  shown,
}: {
  settings: CompareSettings;
  shown: ReturnType<typeof useComparison>;
}) {
  if (!shown.notFound) return <NotYet what="the comparison" shown={shown} />;
  return (
    <Notice
      kind="empty"
      title={settings.jobs.length === 1 ? "There is no such job" : "There are no such jobs"}
    >
      Choose jobs in the <a href="#/jobs">list of jobs</a>.
    </Notice>
  );
}

function CopyLink() {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  // Without https there is no clipboard; the reader can copy the address bar.
  if (!isSecureContext) return null;
  return <Button onPress={() => void copy()}>{copied ? "Copied" : "Copy link"}</Button>;
}

/** Names are offered from this many of the newest jobs. */
const looked = 200;

function NoJobs() {
  const newest = useQuery("jobs to compare", (signal) => getJobPage({ limit: String(looked) }, signal));
  const offers = newest.data ? offersOf(newest.data.jobs) : [];
  return (
    <div class="page">
      <header class="page-header">
        <h1>Compare</h1>
        <span class="page-actions">
          <AddJob jobs={[]} />
        </span>
      </header>
      {!newest.data ? (
        <NotYet what="the newest jobs" shown={newest} />
      ) : (
        <Notice kind="empty" title="Nothing is chosen to compare">
          <p>
            Select jobs in the <a href="#/jobs">list of jobs</a> and press Compare
            {offers.length > 0 ? ", or take jobs of the same name:" : "."}
          </p>
          <ul class="compare-offers">
            {offers.map(({ name, jobs: ids }) => (
              <li key={name}>
                <a href={compareHash(ids)}>
                  {name}: jobs {ids.join(", ")}
                </a>
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </div>
  );
}

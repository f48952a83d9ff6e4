// The page of an address. The page before stays until the next one has been loaded, so that nothing flickers.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../ui/button";
import { Notice } from "../ui/notice";
import type { Match, PageRoute } from "../routes";

type Page = ComponentType<{ id: number }>;
const loaded = new Map<PageRoute, Page>();

export interface ShownPage extends Match {
  Page: Page;
}

/** Begins to load a page that the reader is likely to open. */
export function prepare(page: PageRoute): void {
  void load(page).catch(() => undefined);
}

async function load(page: PageRoute): Promise<Page> {
  const known = loaded.get(page) ?? (await page.load());
  loaded.set(page, known);
  return known;
}

interface Loading {
  /** Null before the first page has been loaded. */
  shown: ShownPage | null;
  failed: boolean;
}

export function usePage(match: Match | null): Loading {
  const [state, setState] = useState<Loading>({ shown: null, failed: false });
  const ready = match && loaded.get(match.page);
  useEffect(() => {
    if (!match) return undefined;
    let gone = false;
    load(match.page).then(
      (Page) => gone || setState({ shown: { ...match, Page }, failed: false }),
      () => gone || setState({ shown: null, failed: true }),
    );
    return () => {
      gone = true;
    };
  }, [match?.page, match?.id]);
  return match && ready ? { shown: { ...match, Page: ready }, failed: false } : state;
}

export function PageView({ match, loading }: { match: Match | null; loading: Loading }) {
  if (!match) return <NoPage />;
  const { shown, failed } = loading;
  if (failed) return <NotLoaded />;
  if (!shown) return null;
  return <shown.Page key={`${shown.page.path} ${shown.id}`} id={shown.id} />;
}

function NoPage() {
  return (
    <div class="page">
      <h1 class="visually-hidden">Not found</h1>
      <Notice kind="empty" title="There is no such page">
        Go to <a href="#/jobs">all jobs</a>.
      </Notice>
    </div>
  );
}

function NotLoaded() {
  return (
    <div class="page">
      <h1 class="visually-hidden">Not loaded</h1>
      <Notice kind="failed" title="This page could not be loaded">
        The coordinator may be down, or may have been upgraded.{" "}
        <Button onPress={() => location.reload()}>Load it again</Button>
      </Notice>
    </div>
  );
}

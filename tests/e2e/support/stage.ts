// What most tests use: a browser, a fake coordinator, and pages that must not report any error.
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { makeCluster, type Cluster } from "../fake/cluster";
import { addQuickstart } from "../fake/quickstart";
import { trackOne } from "../fake/tracking";
import { FakeCoordinator } from "../fake/server";
import { addStudies } from "../fake/studies";
import { launch, openPage, watch, type Watched } from "./browser";

export interface Stage {
  coordinator: FakeCoordinator;
  /** The id of the job that tests look at closely. */
  quickstart: number;
  open(hash: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens another tab of the same browser. */
  openBeside(page: Page, hash: string): Promise<Page>;
}

/** Changes replace entries of the maps. Entries are shared by several copies, so they cannot be changed in place. */
function frozen(cluster: Cluster): Cluster {
  for (const all of [cluster.jobs, cluster.nodes, cluster.experiments])
    for (const one of all.values()) freeze(one);
  return cluster;
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.values(value).forEach(freeze);
  Object.freeze(value);
}

const copyOf = ({ jobs, nodes, experiments }: Cluster): Cluster => ({
  jobs: new Map(jobs),
  nodes: new Map(nodes),
  experiments: new Map(experiments),
});

/** A fresh coordinator and fresh pages for every test of the file; one browser for all. */
export function useStage(jobs: number, nodes = 20, { studies = false } = {}): Stage {
  let browser: Browser;
  let model: Cluster;
  let opened: Watched[] = [];
  const stage: Stage = {
    coordinator: new FakeCoordinator(makeCluster(0, 0, 0)),
    quickstart: jobs + 1,
    async open(hash, options) {
      const watched = await openPage(browser, options);
      opened.push(watched);
      await watched.page.goto(`${stage.coordinator.url}/${hash}`);
      return watched.page;
    },
    async openBeside(page, hash) {
      const watched = watch(await page.context().newPage());
      opened.push(watched);
      await watched.page.goto(`${stage.coordinator.url}/${hash}`);
      return watched.page;
    },
  };
  beforeAll(async () => {
    model = frozen(makeCluster(jobs, nodes, Date.now()));
    browser = await launch();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    const cluster = copyOf(model);
    trackOne(cluster, Date.now());
    addQuickstart(cluster, stage.quickstart, Date.now());
    if (studies) addStudies(cluster, stage.quickstart + 1, Date.now());
    stage.coordinator = new FakeCoordinator(cluster);
    await stage.coordinator.start();
  });
  afterEach(async () => {
    const errors = opened.flatMap((watched) => watched.errors);
    await Promise.all(opened.map(({ page }) => page.context().close()));
    opened = [];
    await stage.coordinator.stop();
    expect(errors, "errors in the page").toEqual([]);
    expect(stage.coordinator.breaches, "answers that are not as openapi.yaml has them").toEqual([]);
  });
  return stage;
}

export const rows = (page: Page) => page.locator(".data-rows .data-row");
export const badge = (page: Page) => page.locator(".connection-word");
export const banner = (page: Page) => page.locator(".banner");

// The table of pages. The frame, the keyboard, its help and the tests read it. A page and its styles are loaded when the
// reader first opens the page.
import type { ComponentType } from "preact";

export interface PageRoute {
  /** "jobs", or "jobs/:id" if a number follows. */
  path: string;
  title: string;
  /** The key to press after "g". Pages with a key are in the navigation, in this order. */
  key: string | null;
  /** The page has a button of its own instead of a place among the others. */
  apart?: boolean;
  /** The path of the page in the navigation that this page belongs to, if its own path does not begin with that one. */
  section?: string;
  load(): Promise<ComponentType<{ id: number }>>;
}

export const routes: readonly PageRoute[] = [
  {
    path: "overview",
    title: "Overview",
    key: "o",
    load: async () => (await import("./pages/overview_page")).OverviewPage,
  },
  { path: "jobs", title: "Jobs", key: "j", load: async () => (await import("./pages/jobs_page")).JobsPage },
  { path: "jobs/:id", title: "Job", key: null, load: async () => (await import("./pages/job_page")).JobPage },
  {
    path: "experiments",
    title: "Experiments",
    key: "e",
    load: async () => (await import("./pages/experiments_page")).ExperimentsPage,
  },
  {
    path: "experiments/:id",
    title: "Experiment",
    key: null,
    load: async () => (await import("./pages/experiment_page")).ExperimentPage,
  },
  {
    path: "studies",
    title: "Studies",
    key: null,
    section: "experiments",
    load: async () => (await import("./pages/studies_page")).StudiesPage,
  },
  {
    path: "studies/:id",
    title: "Study",
    key: null,
    load: async () => (await import("./pages/study_page")).StudyPage,
  },
  {
    path: "compare",
    title: "Compare",
    key: null,
    section: "jobs",
    load: async () => (await import("./pages/compare_page")).ComparePage,
  },
  {
    path: "specs",
    title: "Specs in git",
    key: null,
    section: "experiments",
    load: async () => (await import("./pages/specs_page")).SpecsPage,
  },
  {
    path: "services",
    title: "Services",
    key: null,
    section: "experiments",
    load: async () => (await import("./pages/services_page")).ServicesPage,
  },
  {
    path: "board",
    title: "Board",
    key: "b",
    load: async () => (await import("./pages/board_page")).BoardPage,
  },
  {
    path: "queue",
    title: "Queue",
    key: "q",
    load: async () => (await import("./pages/queue_page")).QueuePage,
  },
  {
    path: "nodes",
    title: "Nodes",
    key: "n",
    load: async () => (await import("./pages/nodes_page")).NodesPage,
  },
  {
    path: "accounts",
    title: "Accounts",
    key: "a",
    load: async () => (await import("./pages/accounts_page")).AccountsPage,
  },
  {
    path: "ledger",
    title: "Ledger",
    key: "l",
    load: async () => (await import("./pages/ledger_page")).LedgerPage,
  },
  {
    path: "submit",
    title: "Submit",
    key: "s",
    apart: true,
    load: async () => (await import("./pages/submit_page")).SubmitPage,
  },
];

export interface Match {
  page: PageRoute;
  /** 0 if the path has no number. */
  id: number;
}

/** An address without a path leads to the overview. Null: there is no such page. */
export function matchRoute(path: readonly string[]): Match | null {
  const [section = "overview", ...rest] = path;
  const number = Number(rest[0]);
  const isNumber = /^[1-9]\d*$/.test(rest[0] ?? "") && Number.isSafeInteger(number);
  if (rest.length > 1 || (rest.length === 1 && !isNumber)) return null;
  const wanted = rest.length === 0 ? section : `${section}/:id`;
  const page = routes.find((each) => each.path === wanted);
  return page ? { page, id: rest.length === 0 ? 0 : number } : null;
}

/** The path of the page in the navigation that an address belongs to. */
export function sectionOf(path: readonly string[]): string {
  const first = path[0] ?? "overview";
  return routes.find((page) => page.path === first)?.section ?? first;
}

export const titleOf = ({ page, id }: Match) => (id === 0 ? page.title : `${page.title} ${id}`);

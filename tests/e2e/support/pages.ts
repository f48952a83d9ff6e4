// Every page for tests and pictures: its address, and what is there once it is drawn. The accessibility test checks that it
// covers the table of routes.
import { trackedJob } from "../fake/tracking";

export interface Sample {
  /** The path in the table of routes; "" for an address without a page. */
  route: string;
  name: string;
  hash: string;
  ready: string;
}

/** `job` is the job of fake/quickstart.ts; the newest others wait. */
export const samples = (job: number): Sample[] => [
  { route: "overview", name: "the overview", hash: "#/overview", ready: ".overview-page .map-piece" },
  {
    route: "overview",
    name: "the overview by job",
    hash: "#/overview?colour=job&attention=all&range=30d",
    ready: ".overview-page .map-piece",
  },
  { route: "jobs", name: "jobs", hash: "#/jobs", ready: ".data-rows .data-row" },
  { route: "jobs/:id", name: "one job with its log", hash: `#/jobs/${job}`, ready: ".log-text" },
  {
    route: "jobs/:id",
    name: "one job with its tasks",
    hash: `#/jobs/${job}?tab=tasks&x=time`,
    ready: ".task-table .data-rows .data-row",
  },
  {
    route: "jobs/:id",
    name: "one job with tables for charts",
    hash: `#/jobs/${job}?table=loss,accuracy`,
    ready: ".chart-table",
  },
  { route: "jobs/:id", name: "one job with its spec", hash: `#/jobs/${job}?tab=spec`, ready: ".spec .code" },
  {
    route: "jobs/:id",
    name: "one job with its history",
    hash: `#/jobs/${job}?tab=history&smooth=0.6`,
    ready: ".history li",
  },
  {
    route: "jobs/:id",
    name: "one job with what was logged of it",
    hash: `#/jobs/${job}?tab=run`,
    ready: ".run-texts td",
  },
  { route: "jobs/:id", name: "a tracked run", hash: `#/jobs/${trackedJob}`, ready: ".run-texts a" },
  {
    route: "jobs/:id",
    name: "a tracked run with a folder of artifacts",
    hash: `#/jobs/${trackedJob}?artifacts=model/data`,
    ready: ".artifact-trail",
  },
  { route: "jobs/:id", name: "a job that waits", hash: `#/jobs/${job - 3}`, ready: ".why-sooner" },
  { route: "jobs/:id", name: "a job that is not there", hash: "#/jobs/999999", ready: ".notice" },
  { route: "jobs/:id", name: "a job that is held", hash: `#/jobs/${job - 4}`, ready: ".badge.is-held" },
  { route: "board", name: "the board", hash: "#/board", ready: ".board-all td" },
  {
    route: "board",
    name: "the board beside what is published",
    hash: "#/board?published=bert-large-pretraining&table=records",
    ready: ".board-published td",
  },
  {
    route: "board",
    name: "a benchmark that is not there",
    hash: "#/board?benchmark=none",
    ready: ".rail-columns .notice",
  },
  { route: "queue", name: "the queue", hash: "#/queue", ready: ".queue-table .data-rows .data-row" },
  { route: "queue", name: "who is held", hash: "#/queue?of=apart", ready: ".queue-table .c-change button" },
  { route: "accounts", name: "accounts", hash: "#/accounts", ready: ".data-rows .data-row" },
  { route: "nodes", name: "nodes", hash: "#/nodes", ready: ".node" },
  { route: "nodes", name: "nodes as lines", hash: "#/nodes?view=lines", ready: ".node" },
  { route: "experiments", name: "experiments", hash: "#/experiments", ready: ".data-rows .data-row" },
  {
    route: "experiments/:id",
    name: "one experiment",
    hash: "#/experiments/9000",
    ready: ".data-rows .data-row",
  },
  {
    route: "jobs/:id",
    name: "one job with its ledger",
    hash: `#/jobs/${job}?tab=ledger`,
    ready: ".ledger-lane",
  },
  { route: "ledger", name: "the ledger", hash: "#/ledger", ready: ".ledger-rows td" },
  {
    route: "ledger",
    name: "the ledger by node",
    hash: "#/ledger?by=node&range=all&waits=1",
    ready: ".ledger-rows td",
  },
  { route: "studies", name: "studies", hash: "#/studies", ready: ".data-rows .data-row" },
  {
    route: "studies/:id",
    name: "a study of sizes beside what is published",
    hash: "#/studies/9100?published=bert-large-pretraining",
    ready: ".study-sizes .is-published",
  },
  { route: "studies/:id", name: "a study on slots", hash: "#/studies/9101", ready: ".study-sizes td" },
  { route: "studies/:id", name: "a sweep", hash: "#/studies/9200", ready: ".study-grid td" },
  {
    route: "studies/:id",
    name: "a sweep that ends its losing trials",
    hash: "#/studies/9300",
    ready: ".study-trials td",
  },
  { route: "studies/:id", name: "a study that is not there", hash: "#/studies/999999", ready: ".notice" },
  {
    route: "compare",
    name: "a comparison",
    hash: `#/compare?jobs=${job},3,4&smooth=0.4`,
    ready: ".compare-table td",
  },
  { route: "compare", name: "a comparison of nothing", hash: "#/compare", ready: ".compare-offers a" },
  {
    route: "compare",
    name: "one job to compare, and one that is not there",
    hash: `#/compare?jobs=${job},999999&diff=all`,
    ready: ".compare-table td",
  },
  { route: "specs", name: "specs in git", hash: "#/specs", ready: ".specs tbody tr" },
  { route: "services", name: "services", hash: "#/services", ready: ".replicas tbody tr" },
  { route: "submit", name: "submit", hash: "#/submit", ready: ".cm-content" },
  { route: "", name: "an unknown page", hash: "#/nowhere", ready: ".notice" },
];

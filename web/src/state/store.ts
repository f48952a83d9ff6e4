// The one copy of what the coordinator reported: jobs and nodes (cluster.ts), everything else that pages fetch (queries.ts),
// and whether the coordinator answers. The live stream of this tab or of the leading tab (tabs.ts) keeps them up to date.
import { signal } from "@preact/signals";
import { getHealth, prefix } from "../api/client";
import type { Connection } from "../api/live";
import type { Health, Job, Node } from "../api/types";
import { Cluster } from "./cluster";
import { JobViews } from "./job_views";
import { Queries } from "./queries";
import { TabLink, thisBrowser } from "./tabs";
import { askForReading, tokenGivenAt, tokenOwner } from "./token";

export type { Loaded } from "./cluster";

export const connection = signal<Connection>({ state: "connecting" });

export const queries = new Queries({ onRefused: (askedAt) => void unlock(askedAt) });
export const cluster = new Cluster(() => queries.invalidate());
export const jobViews = new JobViews(queries, cluster);
export const jobs = cluster.jobs.all;
export const nodes = cluster.nodes.all;

export const applyJob = (job: Job) => cluster.putJobs([job]);
export const applyJobs = (some: readonly Job[]) => cluster.putJobs(some);
export const applyNode = (node: Node) => cluster.putNode(node);
/** An account's rules changed; the coordinator informs the other dashboards. */
export const applyAccount = () => cluster.noteScheduling();

async function unlock(askedAt: number): Promise<void> {
  if (askedAt < tokenGivenAt() || (await askForReading())) queries.invalidate();
}

/** Nothing is fetched before the stream has begun: else changes in between would be missed. */
function follow(next: Connection): void {
  const was = connection.value.state;
  connection.value = next;
  if (next.state !== "live" && next.state !== "polling") return queries.hold();
  if (was === "locked") queries.invalidate();
  queries.go();
}

function noteHealth(health: Health): void {
  tokenOwner.value = health.token;
}

export function startStore(): TabLink {
  const link = new TabLink(
    `podium ${new URL(prefix, document.baseURI).pathname}`,
    {
      onConnection: follow,
      onMessages: (messages) => cluster.receive(messages),
      onHealth: noteHealth,
      onFollowing: () => void getHealth().then(noteHealth, () => undefined),
      onLocked: askForReading,
    },
    thisBrowser(),
  );
  addEventListener("online", () => link.retryNow());
  link.start();
  return link;
}

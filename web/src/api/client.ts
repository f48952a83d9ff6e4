// Every request the dashboard makes, one function each. Nothing else in the dashboard calls fetch, but for the stream.
import { Problem, Unreachable } from "./problem";
import { storedToken } from "./token_store";
import type {
  Account,
  AccountChange,
  Accounts,
  Drain,
  Reservation,
  Experiment,
  Health,
  Job,
  JobDetail,
  JobEvent,
  Metric,
  Node,
  ProblemBody,
  Queue,
  Why,
  WireSeries,
} from "./types";

export const prefix = "api/v1";

interface Options {
  signal?: AbortSignal | undefined;
  token?: string;
  body?: unknown;
}

async function problemOf(response: Response): Promise<Problem> {
  const type = response.headers.get("content-type") ?? "";
  const body: ProblemBody = type.includes("json") ? await response.json().catch(() => ({})) : {};
  return new Problem(response.status, body);
}

/** A coordinator that others than its own machine can reach wants the token for reading too. */
export function authorization(): Record<string, string> {
  const token = storedToken();
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

async function send(path: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = authorization();
  const init: RequestInit = { headers, cache: "no-store" };
  if (options.signal) init.signal = options.signal;
  if (options.token !== undefined) {
    init.method = "POST";
    headers["Authorization"] = `Bearer ${options.token}`;
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body ?? {});
  }
  let response: Response;
  try {
    response = await fetch(`${prefix}${path}`, init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable(error);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function json<T>(path: string, options: Options = {}): Promise<T> {
  const response = await send(path, options);
  return (await response.json()) as T;
}

export const getHealth = (signal?: AbortSignal) => json<Health>("/health", { signal });

export interface JobPage {
  jobs: Job[];
  total: number;
  next_page_token?: string;
}

export function getJobPage(pageToken: string | undefined, signal?: AbortSignal): Promise<JobPage> {
  const page = pageToken ? `&page_token=${encodeURIComponent(pageToken)}` : "";
  return json<JobPage>(`/jobs?limit=1000${page}`, { signal });
}

export const getJob = (id: number, signal?: AbortSignal) => json<JobDetail>(`/jobs/${id}`, { signal });

export const getWhy = (id: number, signal?: AbortSignal) => json<Why>(`/jobs/${id}/why`, { signal });

/** The history after the event with this id, all pages of it. */
export async function getJobEvents(id: number, after: number, signal?: AbortSignal): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  let pageToken: string | undefined = String(after);
  while (pageToken !== undefined) {
    const path = `/jobs/${id}/events?limit=1000&page_token=${pageToken}`;
    const page: { events: JobEvent[]; next_page_token?: string } = await json(path, { signal });
    events.push(...page.events);
    pageToken = page.next_page_token;
  }
  return events;
}

export const getMetrics = async (id: number, signal?: AbortSignal) =>
  (await json<{ metrics: Metric[] }>(`/jobs/${id}/metrics`, { signal })).metrics;

export async function getSeries(id: number, keys: string[], points: number, signal?: AbortSignal) {
  const query = keys.map((key) => `key=${encodeURIComponent(key)}`).join("&");
  const answer = await json<{ series: WireSeries[] }>(`/jobs/${id}/series?${query}&points=${points}`, {
    signal,
  });
  return answer.series;
}

/** All of them, page by page. */
export const getNodes = async (signal?: AbortSignal) => {
  const nodes: Node[] = [];
  let token: string | undefined;
  do {
    const query = new URLSearchParams({ limit: "1000", ...(token === undefined ? {} : { page_token: token }) });
    const page = await json<{ nodes: Node[]; next_page_token?: string }>(`/nodes?${query}`, { signal });
    nodes.push(...page.nodes);
    token = page.next_page_token;
  } while (token !== undefined);
  return nodes;
};

export const getExperiments = async (signal?: AbortSignal) =>
  (await json<{ experiments: Experiment[] }>("/experiments", { signal })).experiments;

export const getExperiment = (id: number, signal?: AbortSignal) =>
  json<Experiment>(`/experiments/${id}`, { signal });

export interface LogQuery {
  attempt: number;
  rank: number;
  stream: "stdout" | "stderr";
}

export interface LogChunk {
  text: string;
  nextOffset: number;
}

export async function getLog(
  id: number,
  query: LogQuery,
  from: { offset: number } | { tail: number },
  signal?: AbortSignal,
): Promise<LogChunk> {
  const where = "offset" in from ? `offset=${from.offset}` : `tail=${from.tail}`;
  const path = `/jobs/${id}/logs?attempt=${query.attempt}&rank=${query.rank}&stream=${query.stream}&${where}`;
  const response = await send(path, { signal });
  return {
    text: await response.text(),
    nextOffset: Number(response.headers.get("X-Podium-Next-Offset") ?? 0),
  };
}

export const getQueue = (limit: number, signal?: AbortSignal) =>
  json<Queue>(`/queue?limit=${limit}`, { signal });

export const getAccounts = (signal?: AbortSignal) => json<Accounts>("/accounts", { signal });

export type JobOperation = "cancel" | "hold" | "release" | "requeue";

export const operateJob = (id: number, operation: JobOperation, token: string) =>
  json<Job>(`/jobs/${id}/${operation}`, { token });

export const prioritiseJob = (id: number, priority: number, token: string) =>
  json<Job>(`/jobs/${id}/priority`, { token, body: { priority } });

export const changeAccount = (account: string, change: AccountChange, token: string) =>
  json<Account>(`/accounts/${encodeURIComponent(account)}`, { token, body: change });

const node = (id: string, operation: string, token: string, body: unknown) =>
  json<Node>(`/nodes/${encodeURIComponent(id)}/${operation}`, { token, body });

export const drainNode = (id: string, drain: Drain, token: string) => node(id, "drain", token, drain);

export const resumeNode = (id: string, token: string) => node(id, "resume", token, {});

export const reserveNode = (id: string, reservation: Reservation, token: string) =>
  node(id, "reserve", token, reservation);

export const unreserveNode = (id: string, token: string) => node(id, "unreserve", token, {});

/** null takes an operator's label back. */
export const labelNode = (id: string, labels: Record<string, string | null>, token: string) =>
  node(id, "labels", token, { labels });

export const validateSpec = (spec: string, token: string) =>
  json<{ valid: boolean; jobs: number; normalised: unknown }>("/validate", {
    token,
    body: { spec, file: "spec.yaml" },
  });

export const submitSpec = (spec: string, token: string) =>
  json<{ experiment: Experiment; jobs: Job[] }>("/experiments", { token, body: { spec, file: "spec.yaml" } });

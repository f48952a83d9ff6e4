// Every request that the dashboard makes, one function each. Only the live stream (stream.ts) calls fetch elsewhere.
import { Problem, Unreachable } from "./problem";
import { readClock } from "./server_clock";
import { storedToken } from "./token_store";
import type {
  Account,
  AccountChange,
  Accounts,
  ArtifactEntry,
  Benchmark,
  BenchmarkDetails,
  Comparison,
  Drain,
  Reservation,
  Services,
  Submitted,
  ExperimentDetail,
  ExperimentPage,
  Health,
  Job,
  JobDetail,
  JobEvent,
  JobLedger,
  JobOutput,
  JobOutputs,
  JobPage,
  LedgerTable,
  Metric,
  Node,
  NodePage,
  OperatedJob,
  ProblemBody,
  Projection,
  PublishedRow,
  Queue,
  Reproduction,
  SpecRepositories,
  Study,
  StudyPage,
  Tracking,
  Why,
  WireSeries,
} from "./types";

export const prefix = "api/v1";

/** The coordinator never takes longer to answer a reading. */
const readingMs = 30_000;

interface Options {
  signal?: AbortSignal | undefined;
  /** A request with a token is a POST. */
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The coordinator gives seconds. The form of the header with a date is not supported. */
const retryAfterMs = (response: Response) => (Number(response.headers.get("Retry-After")) || 0) * 1000;

async function problemOf(response: Response): Promise<Problem> {
  const type = response.headers.get("content-type") ?? "";
  const body = type.includes("json") ? ((await response.json().catch(() => ({}))) as ProblemBody) : {};
  return new Problem(response.status, body, retryAfterMs(response));
}

/** A coordinator that other machines can reach may require the token for reading too. */
export function authorization(): Record<string, string> {
  const token = storedToken();
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

function requestOf({ token, body, headers }: Options, signal: AbortSignal): RequestInit {
  const init: RequestInit = { cache: "no-store", signal };
  if (token === undefined) return { ...init, headers: { ...authorization(), ...headers } };
  return {
    ...init,
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body ?? {}),
  };
}

async function send<T>(path: string, options: Options, read: (response: Response) => Promise<T>): Promise<T> {
  const changes = options.token !== undefined;
  const abort = new AbortController();
  const giveUp = () => abort.abort();
  options.signal?.addEventListener("abort", giveUp);
  const timer = changes ? undefined : setTimeout(giveUp, readingMs);
  try {
    const heardClock = readClock();
    const response = await fetch(`${prefix}${path}`, requestOf(options, abort.signal));
    heardClock(response.headers.get("Date"));
    if (!response.ok) throw await problemOf(response);
    return await read(response);
  } catch (error) {
    if (error instanceof Problem || options.signal?.aborted) throw error;
    throw new Unreachable(error, changes);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", giveUp);
  }
}

const json = <T>(path: string, options: Options = {}): Promise<T> =>
  send(path, options, async (response) => (await response.json()) as T);

export const getHealth = (signal?: AbortSignal) => json<Health>("/health", { signal });

/** The query for one page of a list. */
function pageQuery(pageToken: string | undefined): string {
  return new URLSearchParams({
    limit: "1000",
    ...(pageToken === undefined ? {} : { page_token: pageToken }),
  }).toString();
}

/** `query` says which jobs, in what order, and which part of the list, as GET /jobs takes it. */
export const getJobPage = (query: Record<string, string>, signal?: AbortSignal) =>
  json<JobPage>(`/jobs?${new URLSearchParams(query).toString()}`, { signal });

export const getNodePage = (pageToken: string | undefined, signal?: AbortSignal) =>
  json<NodePage>(`/nodes?${pageQuery(pageToken)}`, { signal });

export const getJob = (id: number, signal?: AbortSignal) => json<JobDetail>(`/jobs/${id}`, { signal });

export const getTracking = (id: number, signal?: AbortSignal) =>
  json<Tracking>(`/jobs/${id}/tracking`, { signal });

/** `folder`: relative to that of the run; "" is that itself. */
export const getArtifacts = async (id: number, folder: string, signal?: AbortSignal) =>
  (
    await json<{ files: ArtifactEntry[] }>(`/jobs/${id}/artifacts?path=${encodeURIComponent(folder)}`, {
      signal,
    })
  ).files;

/** `folder`: that of the run, as its tracking has it. */
export const artifactAddress = (folder: string, path: string) =>
  `api/2.0/mlflow-artifacts/artifacts/${`${folder}/${path}`.split("/").map(encodeURIComponent).join("/")}`;

export const getOutputs = (id: number, signal?: AbortSignal) =>
  json<JobOutputs>(`/jobs/${id}/outputs?limit=1000`, { signal });

export const outputAddress = (job: number, attempt: number, { rank, path }: JobOutput) =>
  `api/v1/jobs/${job}/outputs/file?attempt=${attempt}&rank=${rank}&path=${encodeURIComponent(path)}`;

/** The bytes of a file, for a coordinator that wants a token of its readers. */
export async function getFile(address: string): Promise<Blob> {
  const response = await fetch(address, { cache: "no-store", headers: authorization() });
  if (!response.ok) throw await problemOf(response);
  return response.blob();
}

export const getWhy = (id: number, signal?: AbortSignal) => json<Why>(`/jobs/${id}/why`, { signal });

/** All pages of the history after the event with this id. */
export async function getJobEvents(id: number, after: number, signal?: AbortSignal): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  let pageToken: string | undefined = String(after);
  while (pageToken !== undefined) {
    const path = `/jobs/${id}/events?${pageQuery(pageToken)}`;
    const page: { events: JobEvent[]; next_page_token?: string } = await json(path, { signal });
    events.push(...page.events);
    pageToken = page.next_page_token;
  }
  return events;
}

export const getMetrics = async (id: number, signal?: AbortSignal) =>
  (await json<{ metrics: Metric[] }>(`/jobs/${id}/metrics`, { signal })).metrics;

/** The coordinator refuses more keys in one request. */
const mostKeys = 64;

export async function getSeries(id: number, keys: readonly string[], points: number, signal?: AbortSignal) {
  const series: WireSeries[] = [];
  for (let from = 0; from < keys.length; from += mostKeys) {
    const query = keys.slice(from, from + mostKeys).map((key) => `key=${encodeURIComponent(key)}`);
    const path = `/jobs/${id}/series?${query.join("&")}&points=${points}`;
    series.push(...(await json<{ series: WireSeries[] }>(path, { signal })).series);
  }
  return series;
}

const jobsQuery = (jobs: readonly number[]) => jobs.map((job) => `job=${job}`).join("&");

/** The series of those of the jobs that have the metric. */
export const getSeriesOfJobs = async (
  jobs: readonly number[],
  key: string,
  points: number,
  signal?: AbortSignal,
) =>
  (
    await json<{ series: (WireSeries & { job: number })[] }>(
      `/series?${jobsQuery(jobs)}&key=${encodeURIComponent(key)}&points=${points}`,
      { signal },
    )
  ).series;

/** `base` is the first job by default. `all`: the answer includes the settings that do not differ. */
export const getComparison = (
  jobs: readonly number[],
  base: number | null,
  signal?: AbortSignal,
  all = true,
) =>
  json<Comparison>(
    `/compare?${jobsQuery(jobs)}${base === null ? "" : `&base=${base}`}${all ? "&all=1" : ""}`,
    { signal },
  );

export const getExperimentPage = (pageToken: string | undefined, signal?: AbortSignal) =>
  json<ExperimentPage>(`/experiments?${pageQuery(pageToken)}`, { signal });

export const getExperiment = (id: number, signal?: AbortSignal) =>
  json<ExperimentDetail>(`/experiments/${id}`, { signal });

export const getStudyPage = (pageToken: string | undefined, signal?: AbortSignal) =>
  json<StudyPage>(`/studies?${pageQuery(pageToken)}`, { signal });

export const getStudy = (id: number, signal?: AbortSignal) => json<Study>(`/studies/${id}`, { signal });

/** The published results for every benchmark. */
export const getPublished = async (signal?: AbortSignal) =>
  (await json<{ published: PublishedRow[] }>("/published", { signal })).published;

export const getBoard = async (signal?: AbortSignal) =>
  (await json<{ benchmarks: Benchmark[] }>("/board", { signal })).benchmarks;

export const getBenchmark = (id: string, signal?: AbortSignal) =>
  json<BenchmarkDetails>(`/board/${encodeURIComponent(id)}`, { signal });

export const getJobLedger = (id: number, signal?: AbortSignal) =>
  json<JobLedger>(`/jobs/${id}/ledger`, { signal });

/** `query` says what a row stands for, and which account and time it covers, as GET /ledger takes it. */
export const getLedger = (query: Record<string, string>, signal?: AbortSignal) =>
  json<LedgerTable>(`/ledger?${new URLSearchParams(query).toString()}`, { signal });

export const getProjection = (id: number, signal?: AbortSignal) =>
  json<Projection>(`/jobs/${id}/projection`, { signal });

export const getSpecs = async (signal?: AbortSignal) =>
  (await json<SpecRepositories>("/specs", { signal })).repositories;

export const getServices = (signal?: AbortSignal) => json<Services>("/services", { signal });

export interface LogQuery {
  attempt: number;
  rank: number;
  stream: "stdout" | "stderr";
}

export interface LogChunk {
  bytes: Uint8Array;
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
  return send(path, { signal }, async (response) => ({
    bytes: new Uint8Array(await response.arrayBuffer()),
    nextOffset: Number(response.headers.get("X-Podium-Next-Offset") ?? 0),
  }));
}

export const getMlperfLog = (id: number, signal?: AbortSignal) =>
  send(`/jobs/${id}/mlperf`, { signal }, (response) => response.blob());

export const getQueue = (limit: number, signal?: AbortSignal) =>
  json<Queue>(`/queue?limit=${limit}`, { signal });

export const getAccounts = (signal?: AbortSignal) => json<Accounts>("/accounts", { signal });

export type JobOperation = "cancel" | "hold" | "release" | "requeue";

export const operateJob = (id: number, operation: JobOperation, token: string) =>
  json<Job>(`/jobs/${id}/${operation}`, { token });

/** Submits the spec and code of a job again. The same key returns the job that it made the first time. */
export const reproduceJob = (id: number, key: string, token: string) =>
  json<Reproduction>(`/jobs/${id}/reproduce`, { token, headers: { "Idempotency-Key": key } });

/** The highest number of jobs in one request. */
export const mostOperated = 1000;

/** The coordinator does or refuses each job separately. */
export const operateJobs = async (ids: readonly number[], operation: JobOperation, token: string) =>
  (await json<{ results: OperatedJob[] }>("/jobs/operations", { token, body: { operation, jobs: ids } }))
    .results;

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

/** null removes a label that an operator set. */
export const labelNode = (id: string, labels: Record<string, string | null>, token: string) =>
  node(id, "labels", token, { labels });

export const validateSpec = (spec: string, token: string) =>
  json<{ valid: boolean; jobs: number; normalised: unknown }>("/validate", {
    token,
    body: { spec, file: "spec.yaml" },
  });

/** `key` names the draft. The same key and spec return what they made the first time. */
export const submitSpec = (spec: string, key: string, token: string) =>
  json<Submitted>("/experiments", {
    token,
    body: { spec, file: "spec.yaml" },
    headers: { "Idempotency-Key": key },
  });

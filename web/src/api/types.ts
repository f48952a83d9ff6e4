// The types on the wire under the names that the dashboard uses. `npm run generate` writes schema.ts from
// schemas/openapi.yaml.
import type { components, paths } from "./schema";

type Schemas = components["schemas"];
/** The body of the answer to a GET of this path. */
type Reading<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Answer } } } };
}
  ? Answer
  : never;

export type JobState = Schemas["JobState"];
export const jobStates = [
  "queued",
  "starting",
  "running",
  "stopping",
  "succeeded",
  "failed",
  "cancelled",
  "stopped",
] as const satisfies readonly JobState[];

/** JSON has no such numbers, so the wire carries them as words. */
/** JSON has no way to write NaN or an infinity, so they come as words. */
export type WireNumber = Schemas["Number"];

export const fromWire = (value: WireNumber): number => (typeof value === "number" ? value : Number(value));
export type Job = Schemas["Job"];
/** `spec`: with every default filled in. */
export type JobDetail = Omit<Reading<"/jobs/{job}">, "spec"> & { spec: Record<string, unknown> };
/** The outcome for one of several jobs: the job afterwards, or why the coordinator refused it. */
export type OperatedJob =
  paths["/jobs/operations"]["post"]["responses"][200]["content"]["application/json"]["results"][number];
export type JobPage = Reading<"/jobs">;
/** What MLflow's clients have logged of a job, beside metrics. */
export type Tracking = Schemas["Tracking"];
export type TrackedText = Schemas["TrackedText"];
export type ArtifactEntry = Schemas["ArtifactEntry"];
export type JobOutputs = Schemas["JobOutputs"];
export type JobOutput = Schemas["JobOutput"];
export type SavedCheckpoint = NonNullable<JobDetail["checkpoint"]>;
export type Progress = NonNullable<Job["progress"]>;
export type Target = NonNullable<Job["target"]>;
export type Attempt = Schemas["Attempt"];
export type AttemptEnd = NonNullable<Attempt["end"]>;
export type Task = Attempt["tasks"][number];
export type Source = NonNullable<Schemas["Source"]>;
export type JobEvent = Schemas["HistoryEntry"];

export type Metric = Schemas["MetricSummary"];
export type WireSeries = Schemas["Series"];
export type WirePoint = WireSeries["points"][number];
export type MetricsMessage = Schemas["MetricsMessage"];
export type LivePoint = MetricsMessage["points"][number];

export type Comparison = Schemas["Comparison"];
export type ComparedField = Schemas["ComparedField"];
export type ComparedOutcome = Schemas["ComparedOutcome"];

/** An experiment of several jobs that are read together. */
export type StudyFields = Schemas["StudyFields"];
/** The swept values by their paths in the spec. */
interface Swept {
  parameters: Record<string, unknown>;
}
export type StudyMember = Omit<Schemas["Study"]["members"][number], "parameters"> & Swept;
export type ScalingTable = Omit<Schemas["ScalingTable"], "parameters"> & Swept;
export type Study = Omit<Schemas["Study"], "members" | "tables"> & {
  members: StudyMember[];
  tables: ScalingTable[];
};
/** How a sweep ends its losing trials. */
export type Asha = NonNullable<Schemas["Asha"]>;
/** One trial of a sweep that ends its losing trials. */
export type Trial = NonNullable<Schemas["Trial"]>;
export type StudyPage = Reading<"/studies">;
export type ScalingRow = ScalingTable["rows"][number];
/** A result that others published. */
export type PublishedRow = Schemas["PublishedRow"];

/** What the runs have in common whose times to train can be compared. */
export type Benchmark = Schemas["Benchmark"];
export type BenchmarkDetails = Schemas["BenchmarkDetails"];
export type BoardClass = Schemas["BoardClass"];
export type BoardRecord = Schemas["BoardRecord"];
export type BoardRun = Schemas["BoardRun"];
/** A job that repeats another, and what differs from when the other ran. */
export type Reproduction = Schemas["Reproduction"];

export type LedgerKind = Schemas["LedgerKind"];
export type LedgerPiece = Schemas["LedgerPiece"];
export type JobLedger = Schemas["JobLedger"];
export type LedgerTable = Schemas["LedgerTable"];
export type LedgerRow = Schemas["LedgerRow"];
export type Projection = Schemas["Projection"];

export type Blocker = Schemas["Blocker"];
/** `set`: parts of the spec, and the values to write there. */
export type Sooner = Omit<Schemas["Why"]["sooner"][number], "set"> & {
  set: Record<string, string | number | null | Record<string, string>>;
};
export type Why = Omit<Schemas["Why"], "sooner"> & { sooner: Sooner[] };
/** When a waiting job is expected to start; null where the forecast finds no start, and `note` says why. */
export type StartForecast = NonNullable<Why["start"]>;

export type Node = Schemas["Node"];
export type NodePage = Reading<"/nodes">;
export type NodeState = Node["state"];
export type Device = Node["devices"][number];
/** No new task starts on the node. With a time it is a maintenance window. */
export type Drain = NonNullable<Node["drain"]>;
/** Only jobs of the account and of accounts below it start on the node. */
export type Reservation = NonNullable<Node["reservation"]>;

export type Experiment = Schemas["Experiment"];
export type ExperimentDetail = Reading<"/experiments/{experiment}">;
export type ExperimentPage = Reading<"/experiments">;
export type Submitted = Schemas["Submitted"];

/** A git repository that the coordinator watches for specs. */
export type SpecRepository = Schemas["SpecRepository"];
export type SpecFile = Schemas["SpecFile"];
export type SpecRepositories = Reading<"/specs">;

export type Service = Schemas["Service"];
export type Services = Reading<"/services">;

/** The numbers by kind of device. */
export type Kinds<T> = Record<string, T>;
/** Its usage includes the accounts below it. */
export type Account = Schemas["Account"];
export type AccountUsage = Account["usage"][string];
export type Accounts = Reading<"/accounts">;
/** Absent fields stay as they are; null removes a rule. */
export type AccountChange =
  paths["/accounts/{account}"]["post"]["requestBody"]["content"]["application/json"];

export type Queue = Reading<"/queue">;
export type QueueOfKind = Queue["queues"][number];
export type QueuedJob = Schemas["QueuedJob"];
export type JobApart = Schemas["JobApart"];
export type WaitingJob = Schemas["WaitingJobFields"];

export type Health = Schemas["Health"];
/** The owner of the token that a request carries. */
export type TokenOwner = Health["token"];
/** A proxy on the way may answer anything. */
export type ProblemBody = Partial<Schemas["Problem"]>;

/** `id` is the position in the live stream. */
export type LiveMessage = { id: number } & (
  | { event: "job"; data: Job }
  | { event: "node"; data: Node }
  | { event: "account"; data: { account: string } }
  | { event: "metrics"; data: MetricsMessage }
  | { event: "reset" }
);

// What operators and submitters do to the fake coordinator.
import type { AccountChange, Job, OperatedJob, Submitted } from "../../../web/src/api/types";
import { noSuch, ok, Refusal, type Answer, type Call, type Mistake } from "./call";
import { changed, operateOn, operateOnNode } from "./operate";
import type { FakeCoordinator } from "./server";

/** How long a cancelled job takes to stop. */
const stoppingMs = 200;

export function changeBy(coordinator: FakeCoordinator, call: Call): Answer {
  const [resource, id = "", operation = ""] = call.path;
  call.query.check();
  if (resource === "validate" || (resource === "experiments" && id === "")) return submit(coordinator, call);
  coordinator.asked.push({ path: call.path.join(" "), body: call.body });
  if (resource === "accounts") return changeAccount(coordinator, id, call.body as AccountChange);
  if (resource === "nodes") return changeNode(coordinator, id, operation, call.body);
  if (resource === "jobs" && id === "operations") return changeJobs(coordinator, call.body);
  if (resource === "jobs" && operation === "reproduce") return reproduce(coordinator, call, Number(id));
  if (resource === "jobs") return changeJob(coordinator, id, operation, call.body);
  throw noSuch(call.path.join("/"));
}

function changeNode(coordinator: FakeCoordinator, id: string, operation: string, body: unknown): Answer {
  const node = coordinator.cluster.nodes.get(id);
  if (!node) throw noSuch(`node ${id}`);
  const after = operateOnNode(node, operation, body);
  coordinator.putNode(after);
  return ok(coordinator.read(after));
}

function changeJob(coordinator: FakeCoordinator, id: string, operation: string, body: unknown): Answer {
  const after = changedJob(coordinator, Number(id), operation, body);
  return ok(coordinator.read(after), operation === "cancel" || operation === "requeue" ? 202 : 200);
}

function changedJob(coordinator: FakeCoordinator, id: number, operation: string, body: unknown): Job {
  const job = coordinator.cluster.jobs.get(id);
  if (!job) throw noSuch(`job ${id}`);
  const after = operateOn(job, operation, body);
  coordinator.putJob(after);
  if (operation === "cancel") {
    coordinator.cancelled.push(after.id);
    if (after.state === "stopping") setTimeout(() => coordinator.putJob(ended(after)), stoppingMs);
  }
  return after;
}

const mostJobs = 1000;

/** Each is done or refused separately, in the order of the ids. */
function changeJobs(coordinator: FakeCoordinator, body: unknown): Answer {
  const { operation, jobs } = body as { operation: string; jobs: number[] };
  if (!["cancel", "hold", "release", "requeue"].includes(operation))
    throw new Refusal(400, "operation must be cancel, hold, release or requeue");
  if (jobs.length === 0 || jobs.length > mostJobs) throw new Refusal(400, "jobs must be 1 to 1,000 numbers");
  const results = [...new Set(jobs)]
    .sort((a, b) => a - b)
    .map((id): OperatedJob => {
      try {
        return { id, job: coordinator.read(changedJob(coordinator, id, operation, {})) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { id, refusal: error.message };
      }
    });
  return ok({ results });
}

const ended = (job: Job): Job => ({
  ...job,
  state: "cancelled",
  ended_ms: Date.now(),
  running_since_ms: null,
});

function changeAccount(coordinator: FakeCoordinator, name: string, change: AccountChange): Answer {
  if (name === "refused") throw new Refusal(422, "a limit is of devices that there are");
  const { accounts } = coordinator;
  const account = accounts.get(name) ?? { account: name, share: 1, quota: {}, limit: {}, usage: {} };
  const after = changed(account, change);
  accounts.set(name, after);
  coordinator.live.push("account", { account: name });
  return ok({ ...after, warnings: [] });
}

/** A spec is submitted as one job, a copy of the newest. The same key and spec return the same job. */
function submit(coordinator: FakeCoordinator, call: Call): Answer {
  const { spec } = call.body as { spec: string };
  const mistakes = checkSpec(spec);
  if (mistakes.length > 0) throw new Refusal(422, `${mistakes.length} problems`, mistakes);
  if (call.path[0] === "validate")
    return ok({ valid: true, jobs: 1, warnings: [], normalised: { version: 1, name: "quickstart" } });
  const key = call.request.headers["idempotency-key"];
  const known = coordinator.submissions.find((one) => key !== undefined && one.key === key);
  if (known && known.spec !== spec)
    throw new Refusal(409, `Idempotency-Key "${String(key)}" was used for another spec`);
  const submitted = known?.submitted ?? queue(coordinator, spec);
  if (!known) coordinator.submissions.push({ key: String(key), spec, submitted });
  const jobs = submitted.jobs.map((job) => coordinator.read(job));
  return ok({ ...submitted, jobs }, known ? 200 : 201);
}

function queue(coordinator: FakeCoordinator, spec: string): Submitted {
  const { jobs, experiments } = coordinator.cluster;
  const id = Math.max(0, ...jobs.keys()) + 1;
  const experiment = Math.max(0, ...experiments.keys()) + 1;
  const name = /^name: (\S+)/m.exec(spec)?.[1] ?? "unnamed";
  const [model] = jobs.values();
  const job: Job = {
    ...model!,
    ...{
      id,
      experiment,
      name,
      state: "queued",
      attempt: 0,
      restarts: 0,
      held: false,
      labels: {},
      latest: {},
    },
    ...{ submitted_ms: Date.now(), started_ms: null, ended_ms: null, running_since_ms: null, progress: null },
    ...{
      elapsed_seconds: 0,
      ran_seconds: 0,
      target: null,
      time_to_train_seconds: null,
      reason: "has just come",
    },
  };
  const made = { id: experiment, name, created_ms: Date.now(), source: null, file: "spec.yaml", jobs: [id] };
  experiments.set(experiment, { ...made, spec });
  coordinator.putJob(job);
  return { experiment: made, jobs: [job], service: null };
}

/** The same key returns the job that it made the first time. */
function reproduce(coordinator: FakeCoordinator, call: Call, id: number): Answer {
  const { jobs, experiments } = coordinator.cluster;
  const original = jobs.get(id);
  if (!original) throw noSuch(`job ${id}`);
  const key = String(call.request.headers["idempotency-key"]);
  const known = coordinator.submissions.find((one) => one.key === key);
  const { spec } = experiments.get(original.experiment)!;
  const submitted = known?.submitted ?? queue(coordinator, spec);
  const [made] = submitted.jobs;
  const job = { ...made!, name: original.name, labels: { reproduces: String(id) } };
  if (!known) {
    coordinator.submissions.push({ key, spec, submitted });
    coordinator.putJob(job);
  }
  const differences = coordinator.differences;
  return ok({ reproduces: id, job: coordinator.read(job), differences }, known ? 200 : 201);
}

/** Just enough of a check for the submit page: keys with a known misspelling, each at its line. */
function checkSpec(spec: string): Mistake[] {
  return spec.split("\n").flatMap((text, index) => {
    const where = (column: number) => `spec.yaml:${index + 1}:${column}`;
    if (/^\s*lable:/.test(text))
      return [
        { message: 'unknown key "lable"; did you mean "labels"?', where: where(text.indexOf("lable") + 1) },
      ];
    if (/devices: -/.test(text))
      return [{ message: "resources.devices must be at least 1", where: where(text.indexOf("devices") + 1) }];
    return [];
  });
}

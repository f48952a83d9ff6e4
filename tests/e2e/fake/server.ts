// A coordinator made of memory: the REST and stream of docs/protocols.md over generated data, and the built dashboard
// under the real one's content security policy. For tests and screenshots; tests can take it down and push updates.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { AccountChange, Job, Node, TokenOwner } from "../../../web/src/api/types";
import type { Cluster } from "./cluster";
import { makeSeries, metricsOf } from "./curves";
import { detailOf, eventsOf, logOf } from "./quickstart";
import { LiveFeed } from "./live_feed";
import { accountsOf, changed, makeAccounts, operateOn, operateOnNode, queueOf } from "./operate";
import { whyOf } from "./why";
import { serveStatic } from "./static_files";

export const userToken = "user-token-for-tests";

export class FakeCoordinator {
  readonly live = new LiveFeed();
  /** Reading needs the token too, as on a coordinator that others can reach. */
  readsNeedToken = false;
  /** Holds `/live` back as a buffering proxy would. */
  streamsBroken = false;
  logLines = 120;
  /** Whose the token is that reads come with. */
  readsAs: TokenOwner = "nobody";
  readonly accounts = makeAccounts();
  /** Bodies of what operators asked for, by path. */
  readonly asked: { path: string; body: unknown }[] = [];
  readonly cancelled: number[] = [];
  private server: Server | null = null;
  private readonly sockets = new Set<Socket>();
  private port = 0;
  private startedMs = Date.now();

  constructor(readonly cluster: Cluster) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts on a free port, and after `stop` on the same one again. */
  async start(port = this.port): Promise<void> {
    this.startedMs = Date.now();
    this.server = createServer((request, response) => void this.answer(request, response));
    this.server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => this.server!.listen(port, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = null;
    this.live.closeAll();
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }

  putJob(job: Job): void {
    this.cluster.jobs.set(job.id, job);
    this.live.push("job", job, job.id);
  }

  putNode(node: Node): void {
    this.cluster.nodes.set(node.id, node);
    this.live.push("node", node);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    if (!url.pathname.startsWith("/api/v1/")) return serveStatic(url.pathname, response);
    const path = url.pathname.slice("/api/v1/".length).split("/");
    if (request.method === "POST") return this.post(path, request, response);
    return this.get(path, url.searchParams, request, response);
  }

  private get(
    path: string[],
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const [resource, id, part] = path;
    const { jobs, nodes, experiments } = this.cluster;
    if (resource === "health") return json(response, 200, this.health(request));
    if (this.readsNeedToken && !isUser(request)) return problem(response, 401, "this needs a token");
    if (resource === "live") {
      if (this.streamsBroken) return problem(response, 503, "the stream is not available");
      return this.live.open(request, response);
    }
    if (resource === "queue")
      return json(response, 200, queueOf(this.cluster, Number(query.get("limit")), Date.now()));
    if (resource === "accounts") return json(response, 200, accountsOf(this.accounts));
    if (resource === "nodes") return json(response, 200, { nodes: [...nodes.values()] });
    if (resource === "experiments" && id === undefined)
      return json(response, 200, { experiments: [...experiments.values()] });
    if (resource === "experiments") {
      const experiment = experiments.get(Number(id));
      return experiment
        ? json(response, 200, experiment)
        : problem(response, 404, `there is no experiment ${id}`);
    }
    if (resource === "jobs" && id === undefined) return this.listJobs(query, response);
    const job = jobs.get(Number(id));
    if (resource !== "jobs" || !job) return problem(response, 404, `there is no ${path.join("/")}`);
    return this.getJob(job, part, query, response);
  }

  private getJob(job: Job, part: string | undefined, query: URLSearchParams, response: ServerResponse): void {
    const detail = detailOf(job, this.cluster);
    if (part === undefined) return json(response, 200, detail);
    if (part === "events")
      return json(response, 200, {
        events: eventsOf(job).filter(({ id }) => id > Number(query.get("page_token") ?? 0)),
      });
    if (part === "metrics") return json(response, 200, { metrics: metricsOf(makeSeries(detail)) });
    if (part === "series") {
      const keys = new Set(query.getAll("key"));
      return json(response, 200, { series: makeSeries(detail).filter(({ key }) => keys.has(key)) });
    }
    if (part === "why") return json(response, 200, whyOf(job, Date.now()));
    if (part === "logs")
      return sendLog(logOf(job, Number(query.get("rank") ?? 0), this.logLines), query, response);
    return problem(response, 404, `a job has no ${part}`);
  }

  private listJobs(query: URLSearchParams, response: ServerResponse): void {
    const all = [...this.cluster.jobs.values()].sort((a, b) => b.id - a.id);
    const from = Number(query.get("page_token") ?? 0);
    const to = from + Number(query.get("limit") ?? 100);
    const next = to < all.length ? { next_page_token: String(to) } : {};
    json(response, 200, { jobs: all.slice(from, to), total: all.length, ...next });
  }

  private async post(path: string[], request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (!isUser(request)) return problem(response, 401, "this needs the user token");
    if (["jobs", "nodes", "accounts"].includes(path[0] ?? ""))
      return this.operate(path.map(decodeURIComponent), JSON.parse(body || "{}"), response);
    const { spec } = JSON.parse(body) as { spec: string };
    const problems = checkSpec(spec);
    if (problems.length > 0) return problem(response, 422, `${problems.length} problems`, problems);
    if (path[0] === "validate")
      return json(response, 200, { valid: true, jobs: 1, normalised: { version: 1, name: "quickstart" } });
    return json(response, 201, {
      experiment: this.cluster.experiments.values().next().value,
      jobs: [...this.cluster.jobs.values()].slice(-1),
    });
  }

  private operate(
    [resource, id = "", operation = ""]: string[],
    body: unknown,
    response: ServerResponse,
  ): void {
    this.asked.push({ path: [resource, id, operation].filter(Boolean).join(" "), body });
    if (resource === "accounts") return this.changeAccount(id, body as AccountChange, response);
    const node = this.cluster.nodes.get(id);
    if (node) {
      const after = operateOnNode(node, operation, body);
      this.putNode(after);
      return json(response, 200, after);
    }
    const job = this.cluster.jobs.get(Number(id));
    const after = job ? operateOn(job, operation, body) : `there is no job ${id}`;
    if (typeof after === "string") return problem(response, 409, after);
    if (operation === "cancel") this.cancelled.push(after.id);
    this.putJob(after);
    return json(response, 200, after);
  }

  private changeAccount(name: string, change: AccountChange, response: ServerResponse): void {
    if (name === "refused") return problem(response, 422, "a limit is of devices that there are");
    const account = this.accounts.get(name) ?? { account: name, share: 1, quota: {}, limit: {}, usage: {} };
    this.accounts.set(name, changed(account, change));
    this.live.push("account", { account: name });
    return json(response, 200, this.accounts.get(name));
  }

  private health(request: IncomingMessage) {
    const uptime = Math.floor((Date.now() - this.startedMs) / 1000);
    return {
      status: "ok",
      version: "0.1.0",
      uptime_seconds: uptime,
      jobs: {},
      nodes: {},
      live_id: this.live.lastId,
      token: isUser(request) ? "user" : this.readsAs,
    };
  }
}

const isUser = (request: IncomingMessage) => request.headers.authorization === `Bearer ${userToken}`;

/** Just enough of a check for the submit page: keys with a known misspelling, each at its line. */
function checkSpec(spec: string): { message: string; where: string }[] {
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

function sendLog(text: string, query: URLSearchParams, response: ServerResponse): void {
  const tail = query.get("tail");
  const from = tail === null ? Number(query.get("offset") ?? 0) : Math.max(0, text.length - Number(tail));
  response.writeHead(200, {
    "Content-Type": "text/plain; charset=utf-8",
    "X-Podium-Next-Offset": String(text.length),
  });
  response.end(text.slice(from));
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}

function problem(response: ServerResponse, status: number, detail: string, errors: unknown[] = []): void {
  response.writeHead(status, { "Content-Type": "application/problem+json" });
  response.end(
    JSON.stringify({ type: "about:blank", title: "Problem", status, detail, request_id: "fake-1", errors }),
  );
}

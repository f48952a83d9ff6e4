// A coordinator in memory: the REST API and the stream of docs/protocols.md over generated data, and the built dashboard
// under the real one's content security policy. For tests and screenshots; tests can stop it, push updates and disturb the
// network. Every answer is checked against schemas/openapi.yaml.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import {
  jobStates,
  type Health,
  type Job,
  type Node,
  type Submitted,
  type TokenOwner,
} from "../../../web/src/api/types";
import { ok, Query, Refusal, type Answer, type Call } from "./call";
import { changeBy } from "./changes";
import type { Cluster } from "./cluster";
import { LiveFeed } from "./live_feed";
import { Network } from "./network";
import { breachesOf, messageBreaches } from "./openapi";
import { makeAccounts } from "./operate";
import { readFrom } from "./reads";
import { makeServices } from "./services";
import { makeSpecs } from "./specs";
import { serveStatic } from "./static_files";

export const userToken = "user-token-for-tests";
const prefix = "/api/v1/";
const artifactsPrefix = "/api/2.0/mlflow-artifacts/artifacts/";

export class FakeCoordinator {
  /** Answers and messages that differ from the document. */
  readonly breaches: string[] = [];
  readonly live = new LiveFeed((event, data) => this.breaches.push(...messageBreaches(event, data)));
  readonly network = new Network();
  /** Reading also needs the token, as on a coordinator that other machines can reach. */
  readsNeedToken = false;
  /** Answers `/live` with 503. */
  streamsBroken = false;
  logLines = 120;
  /** The owner of the token that readings carry. */
  readsAs: TokenOwner = "nobody";
  readonly accounts = makeAccounts();
  services = makeServices(Date.now());
  specs = makeSpecs(Date.now());
  /** The bodies of operators' requests, by path. */
  readonly asked: { path: string; body: unknown }[] = [];
  readonly cancelled: number[] = [];
  /** When the original of a reproduction ran. */
  differences: string[] = [
    "the original ran under podium 0.0.9; the nodes have 0.1.0 now",
    "the original was submitted with uncommitted changes; its spec is repeated as it was then",
  ];
  readonly submissions: { key: string; spec: string; submitted: Submitted }[] = [];
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
    this.live.restart();
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
    this.live.push("job", this.read(job));
  }

  /** Changes it without a message on the stream. */
  putJobUnseen(job: Job): void {
    this.cluster.jobs.set(job.id, job);
    this.live.skip();
  }

  putNode(node: Node): void {
    this.cluster.nodes.set(node.id, node);
    this.live.push("node", this.read(node));
  }

  /** Its present state, with the revision of this reading. */
  read<Entity extends object>(entity: Entity): Entity & { revision: number } {
    return { ...entity, revision: this.live.takeId() };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    if (url.pathname.startsWith(artifactsPrefix)) return this.sendArtifact(url.pathname, request, response);
    if (!url.pathname.startsWith(prefix)) return serveStatic(url.pathname, response);
    const text = url.pathname.slice(prefix.length);
    const call: Call = {
      method: request.method ?? "GET",
      path: text.split("/").map(decodeURIComponent),
      query: new Query(url.searchParams),
      request,
      body: await bodyOf(request),
      isUser: request.headers.authorization === `Bearer ${userToken}`,
    };
    if (text === "live" && !this.streamsBroken && this.mayRead(call))
      return this.live.open(request, response);
    const { status, body, type, headers } = this.reply(call, text);
    const answered = { method: call.method, path: `/${text}`, status, type, body };
    this.breaches.push(...breachesOf(answered));
    if (!(await this.network.deliver(text))) return void response.destroy();
    send(request, response, { status, body, type, headers });
  }

  /** Its path is its content. */
  private sendArtifact(path: string, { headers }: IncomingMessage, response: ServerResponse): void {
    const isUser = headers.authorization === `Bearer ${userToken}`;
    const refused = this.readsNeedToken && !isUser;
    response.writeHead(refused ? 401 : 200, { "Content-Type": "application/octet-stream" });
    response.end(decodeURIComponent(path.slice(artifactsPrefix.length)));
  }

  private reply(call: Call, text: string): Required<Answer> {
    try {
      this.network.refuseIfBusy(text);
      const answer = this.decide(call);
      return { type: "application/json", headers: {}, ...answer };
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      return problemOf(refusal);
    }
  }

  private mayRead({ isUser }: Call): boolean {
    return isUser || !this.readsNeedToken;
  }

  private decide(call: Call): Answer {
    if (call.method === "GET" && call.path[0] === "health") return ok(this.health(call));
    if (call.method === "GET") {
      if (!this.mayRead(call)) throw new Refusal(401, "this needs a token");
      if (call.path[0] === "live") throw new Refusal(503, "the stream is not available");
      return readFrom(this, call);
    }
    if (!call.isUser) throw new Refusal(401, "this needs the user token");
    return changeBy(this, call);
  }

  private health({ isUser }: Call): Health {
    const { jobs, nodes } = this.cluster;
    const count = <State extends string>(all: Iterable<{ state: string }>, states: readonly State[]) =>
      Object.fromEntries(
        states.map((state) => [state, [...all].filter((one) => one.state === state).length]),
      ) as Record<State, number>;
    return {
      status: "ok",
      version: "0.1.0",
      cluster: "fake",
      uptime_seconds: (Date.now() - this.startedMs) / 1000,
      jobs: count([...jobs.values()], jobStates),
      nodes: count([...nodes.values()], ["up", "unknown", "lost"] as const),
      live_id: this.live.toldId,
      token: isUser ? "user" : this.readsAs,
    };
  }
}

/** Smaller answers are not compressed. */
const packedFrom = 2048;

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, type, headers }: Required<Answer>,
): void {
  const plain = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const packs = plain.length > packedFrom && /\bgzip\b/.test(String(request.headers["accept-encoding"]));
  const packing = packs ? { "Content-Encoding": "gzip" } : {};
  response.writeHead(status, { "Content-Type": type, ...packing, ...headers });
  response.end(packs ? gzipSync(plain) : plain);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text || "{}");
}

const problemOf = ({ status, message, mistakes, headers }: Refusal): Required<Answer> => ({
  status,
  type: "application/problem+json",
  headers,
  body: {
    ...{ type: "about:blank", title: "Problem", status, detail: message, request_id: "fake-1" },
    ...(mistakes.length > 0 ? { errors: mistakes } : {}),
  },
});

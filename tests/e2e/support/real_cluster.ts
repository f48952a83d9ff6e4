// A real coordinator and two real agents in a temporary folder, with text to train on. It stops everything that it started,
// by process id.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dist } from "../fake/static_files";
import { Random } from "../fake/random";
import { end, start, until, type Daemon } from "./daemon";

export const realUserToken = "user-token-of-this-test";

export class RealCluster {
  url = "";
  private port = 0;
  private coordinator: Daemon | null = null;
  private readonly agents: Daemon[] = [];

  private constructor(readonly folder: string) {}

  static async start(): Promise<RealCluster> {
    const cluster = new RealCluster(await mkdtemp(join(tmpdir(), "podium-e2e-")));
    await mkdir(join(cluster.folder, "data"));
    await writeFile(join(cluster.folder, "user.token"), realUserToken);
    await writeFile(join(cluster.folder, "agent.token"), "agent-token-of-this-test");
    await writeTrainingData(join(cluster.folder, "data"));
    await cluster.startCoordinator();
    for (const name of ["node-1", "node-2"]) cluster.startAgent(name);
    return cluster;
  }

  async startCoordinator(): Promise<void> {
    const home = join(this.folder, "coordinator");
    const address = join(home, "coordinator.address");
    await rm(address, { force: true });
    this.coordinator = this.run("podium-coordinator", "coordinator", [
      ...["--home", home, "--listen", `127.0.0.1:${this.port}`, "--web", dist],
      ...[
        "--user-token-file",
        join(this.folder, "user.token"),
        "--agent-token-file",
        join(this.folder, "agent.token"),
      ],
    ]);
    await until("the coordinator to listen", () => existsSync(address));
    this.port = Number((await readFile(address, "utf8")).trim().split(":").pop());
    this.url = `http://127.0.0.1:${this.port}`;
  }

  async killCoordinator(): Promise<void> {
    await end(this.coordinator!, "SIGKILL");
  }

  private startAgent(name: string): void {
    const agent = this.run("podium-agent", name, [
      ...["--name", name, "--coordinator", this.url, "--token-file", join(this.folder, "agent.token")],
      ...[
        "--home",
        join(this.folder, name),
        "--shared",
        join(this.folder, "shared"),
        "--data",
        join(this.folder, "data"),
      ],
      ...["--cpu-slots", "1", "--threads-per-slot", "1", "--stop-tasks-on-exit"],
    ]);
    this.agents.push(agent);
  }

  private run(program: string, name: string, options: string[]): Daemon {
    return start(program, join(this.folder, `${name}.log`), options);
  }

  async submit(spec: string): Promise<number> {
    const response = await fetch(`${this.url}/api/v1/experiments`, {
      method: "POST",
      headers: { Authorization: `Bearer ${realUserToken}`, "Content-Type": "application/json" },
      body: JSON.stringify({ spec, file: "e2e.yaml" }),
    });
    const body = (await response.json()) as { jobs?: { id: number }[] };
    if (!body.jobs) throw new Error(`submit: ${JSON.stringify(body)}`);
    return body.jobs[0]!.id;
  }

  /** The ends of all logs, for a test that failed. */
  async logs(): Promise<string> {
    const names = (await readdir(this.folder)).filter((name) => name.endsWith(".log"));
    const texts = await Promise.all(names.map((name) => readFile(join(this.folder, name), "utf8")));
    return names.map((name, index) => `--- ${name}\n${texts[index]!.slice(-4000)}`).join("\n");
  }

  async stop(): Promise<void> {
    await Promise.all(this.agents.map((agent) => end(agent, "SIGTERM")));
    if (this.coordinator) await end(this.coordinator, "SIGTERM");
    await rm(this.folder, { recursive: true, force: true });
  }
}

const words =
  "river stone light water house field bread road king child night song tree voice hand door".split(" ");

/** Each word is one of the next three in the list, so the context is worth learning. */
function sentences(random: Random, count: number): string {
  let text = "";
  for (let sentence = 0; sentence < count; sentence += 1) {
    let word = random.integer(0, words.length - 1);
    const line = Array.from(
      { length: 12 },
      () => words[(word = (word + random.integer(1, 3)) % words.length)],
    );
    text += `${sentence % 8 === 7 ? "\n" : ""}${line.join(" ")} .\n`;
  }
  return text;
}

async function writeTrainingData(folder: string): Promise<void> {
  const random = new Random(1);
  await writeFile(join(folder, "corpus.txt"), sentences(random, 4000));
  await writeFile(join(folder, "heldout.txt"), sentences(random, 200));
  await writeFile(
    join(folder, "vocab.txt"),
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ...words, ""].join("\n"),
  );
}

/** A small BERT over both nodes that would train for an hour: tests cancel it or leave it running. */
export const trainingSpec = (name: string) => `version: 1
name: ${name}
labels: {suite: e2e}
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: 1000000, warmup: 10, decay: linear}
  batch: {global: 32, micro: 16}
  sequence_length: 32
  log_every: 10 steps
resources: {devices: 2, per_node: 1, kind: cpu, walltime: 1h}
checkpoint: {every: 100 steps, keep: 2}
evaluate: {every: 50 steps, data: heldout.txt, sequences: 64}
target: {metric: eval/gain_over_unigram, at_least: 100}
`;

/** A job that sleeps for an hour. */
export const sleepingSpec = (name: string) => `version: 1
name: ${name}
command: [sleep, "3600"]
resources: {devices: 1, kind: cpu, walltime: 2h}
`;

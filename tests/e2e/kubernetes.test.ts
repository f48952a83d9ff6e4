// The manifests of deploy/kubernetes: each object is as the API's published OpenAPI description has it (kubernetes-models is
// made from it), without a field that it does not know; and their command lines start the real daemons.
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { dist } from "./fake/static_files";
import { end, start, until, whyNotReal, type Daemon } from "./support/daemon";

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, "../../deploy/kubernetes");
const require = createRequire(import.meta.url);

interface Container {
  name: string;
  command: string[];
  args: string[];
  volumeMounts: { mountPath: string }[];
  readinessProbe?: { httpGet: { path: string } };
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name?: string; generateName?: string };
  spec: { template: { spec: { containers: Container[] } } };
}

async function manifestsOf(file: string): Promise<Manifest[]> {
  const documents = parseAllDocuments(await readFile(join(folder, file), "utf8"));
  for (const document of documents) expect(document.errors, file).toEqual([]);
  return documents.map((document) => document.toJS() as Manifest);
}

const files = (await readdir(folder)).filter(
  (file) => file.endsWith(".yaml") && file !== "kustomization.yaml",
);
const manifests = (await Promise.all(files.map(manifestsOf))).flat();
const named = (kind: string, name: string) =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)!;

/** What TypeScript says of the manifests as literals of their types: misspelt and misplaced fields. */
function mistypedFields(all: Manifest[]): string[] {
  const virtual = join(here, "manifests.virtual.ts");
  const text = all
    .map(
      ({ apiVersion, kind }, index) =>
        `import type { I${kind} as T${index} } from "kubernetes-models/${apiVersion}";\n` +
        `export const v${index}: T${index} = ${JSON.stringify(all[index])};\n`,
    )
    .join("");
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile: read } = host;
  host.fileExists = (file) => file === virtual || fileExists(file);
  host.readFile = (file) => (file === virtual ? text : read(file));
  host.getSourceFile = (file, ...rest) =>
    file === virtual ? ts.createSourceFile(file, text, ts.ScriptTarget.ES2022) : getSourceFile(file, ...rest);
  const program = ts.createProgram([virtual], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map((diagnostic) => ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
}

describe("the manifests", () => {
  it.each(
    manifests.map(
      (manifest) =>
        [`${manifest.kind} ${manifest.metadata.name ?? manifest.metadata.generateName}`, manifest] as const,
    ),
  )("%s is as the API's schema has it", (_, manifest) => {
    const models = require(`kubernetes-models/${manifest.apiVersion}`) as Record<
      string,
      new (data: unknown) => { validate(): void }
    >;
    const Model = models[manifest.kind];
    expect(Model, `${manifest.apiVersion} has no ${manifest.kind}`).toBeDefined();
    expect(() => new Model!(manifest).validate()).not.toThrow();
  });

  it("have no field that the API does not know", () => {
    expect(mistypedFields(manifests)).toEqual([]);
  });

  it("would be refused with a misspelt field", () => {
    const misspelt = structuredClone(named("DaemonSet", "podium-agent"));
    Object.assign(misspelt.spec.template.spec, { terminationGraceSeconds: 1 });
    expect(mistypedFields([misspelt]).join()).toContain("terminationGraceSeconds");
  });

  it("are those that the kustomization names", async () => {
    const text = await readFile(join(folder, "kustomization.yaml"), "utf8");
    const { resources } = parseAllDocuments(text)[0]!.toJS() as { resources: string[] };
    expect([...resources].sort()).toEqual(files.filter((file) => file !== "on-demand.yaml").sort());
  });
});

describe.skipIf(whyNotReal() !== "")("their command lines", () => {
  let root = "";
  const daemons: Daemon[] = [];

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "podium-kubernetes-"));
    await mkdir(join(root, "etc/podium"), { recursive: true });
    for (const token of ["user", "agent", "services"])
      await writeFile(join(root, `etc/podium/${token}.token`), `${token}-token-of-this-test`, {
        mode: 0o600,
      });
  });

  afterAll(async () => {
    for (const daemon of daemons.reverse()) await end(daemon, "SIGTERM");
    await rm(root, { recursive: true, force: true });
  });

  /** Starts the container's command with its mounted folders below `root`. */
  function run(container: Container, changes: Record<string, string>): void {
    const place = (arg: string) => {
      let placed = arg;
      for (const [from, to] of Object.entries(changes)) placed = placed.replace(from, to);
      const mount = container.volumeMounts.find(({ mountPath }) => placed.includes(`=${mountPath}`));
      return mount ? placed.replace(`=${mount.mountPath}`, `=${join(root, mount.mountPath)}`) : placed;
    };
    for (const { mountPath } of container.volumeMounts) mkdirSync(join(root, mountPath), { recursive: true });
    daemons.push(
      start(container.command[0]!, join(root, `${container.name}.log`), container.args.map(place)),
    );
  }

  it("start a coordinator that is ready, and agents that join it", async () => {
    const [coordinator] = named("StatefulSet", "podium-coordinator").spec.template.spec.containers;
    run(coordinator!, {
      "0.0.0.0:7070": "127.0.0.1:0",
      "0.0.0.0:7071": "127.0.0.1:0",
      "/usr/local/share/podium/web": dist,
    });
    const address = join(root, "var/lib/podium/coordinator/coordinator.address");
    await until(
      "the coordinator to listen",
      async () => (await readFile(address, "utf8").catch(() => "")) !== "",
    );
    const url = (await readFile(address, "utf8")).trim();
    expect((await fetch(url + coordinator!.readinessProbe!.httpGet.path)).status).toBe(200);

    const headers = { Authorization: "Bearer user-token-of-this-test" };
    const onDemand = manifests.find(({ kind }) => kind === "Job")!;
    for (const [name, manifest] of [
      ["dgx-1", named("DaemonSet", "podium-agent")],
      ["podium-nodes-x7k2p-0-5ljhh", onDemand],
    ] as const) {
      const [agent] = manifest.spec.template.spec.containers;
      run(
        { ...agent!, name },
        { "$(NODE_NAME)": name, "$(POD_NAME)": name, "$(POD_IP)": "127.0.0.1", "http://podium:7070": url },
      );
      await until(`${name} to join`, async () =>
        (await (await fetch(`${url}/api/v1/nodes`, { headers })).text()).includes(`"${name}"`),
      );
      await end(daemons.pop()!, "SIGTERM"); // the two have one home here
    }
  });
});

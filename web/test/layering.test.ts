// Which folder may import which: web/README.md gives the reasons.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));
const data = ["api", "model", "state"];
const parts = [...data, "hooks", "ui"];
const allowed: Record<string, readonly string[]> = {
  api: [],
  model: ["api"],
  state: ["api", "model"],
  hooks: data,
  charts: ["model", "state", "ui"],
  ui: [...data, "hooks", "routes"],
  account: parts,
  board: [...parts, "charts", "job"],
  compare: [...parts, "charts"],
  job: [...parts, "charts"],
  node: parts,
  overview: [...parts, "charts"],
  study: [...parts, "charts"],
  submit: parts,
  pages: [...parts, "account", "board", "compare", "job", "node", "overview", "study", "submit"],
  routes: ["pages"],
  app: [...parts, "routes"],
  main: ["app", "routes", "state"],
};

const filesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesIn(path);
    return /\.tsx?$/.test(name) ? [path] : [];
  });

/** "ui" for ui/dialog.tsx, "app" for app.tsx. */
const folderOf = (path: string) => path.split("/")[0]!.replace(/\.tsx?$/, "");

it("every import goes down the table", () => {
  const wrong = filesIn(source).flatMap((file) => {
    const from = relative(source, file);
    const imports = readFileSync(file, "utf8").matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g);
    return [...imports]
      .map(([, path]) => normalize(join(dirname(from), path!)))
      .filter((to) => folderOf(to) !== "styles" && folderOf(to) !== folderOf(from))
      .filter((to) => !allowed[folderOf(from)]?.includes(folderOf(to)))
      .map((to) => `${from} imports ${to}`);
  });
  expect(wrong).toEqual([]);
});

it("no file has more than 400 lines", () => {
  const long = filesIn(source).filter((file) => !file.endsWith("/schema.ts"));
  expect(long.filter((file) => readFileSync(file, "utf8").split("\n").length > 400)).toEqual([]);
});

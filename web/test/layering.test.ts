// Which room may import which, as web/README.md has it.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));
const data = ["api", "format", "model", "state"];
const parts = [...data, "hooks", "ui"];
/** Every room with the rooms whose files it may import. */
const rooms: [room: string, imports: readonly string[]][] = [
  ["api", []],
  ["format", []],
  ["model", ["api", "format"]],
  ["state", ["api", "format", "model"]],
  ["hooks", data],
  ["ui", [...data, "hooks"]],
  ["charts", ["format", "model", "state", "ui"]],
  ["account", parts],
  ["node", parts],
  ["submit", parts],
  ["compare", [...parts, "charts"]],
  ["job", [...parts, "charts"]],
  ["overview", [...parts, "charts"]],
  ["study", [...parts, "charts"]],
  ["board", [...parts, "charts", "job"]],
  ["pages", [...parts, "account", "node", "submit", "compare", "job", "overview", "study", "board"]],
  ["routes", ["pages"]],
  ["frame", [...parts, "routes"]],
  ["main", ["frame", "routes", "state"]],
];
const allowed = new Map(rooms);

const filesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesIn(path);
    return /\.tsx?$/.test(name) ? [path] : [];
  });

/** "ui" for ui/dialog.tsx, "main" for main.tsx. */
const roomOf = (path: string) => path.split("/")[0]!.replace(/\.tsx?$/, "");

/** Pairs of importing and imported file, both below src, without imports within a room. */
const imports = filesIn(source).flatMap((file) => {
  const from = relative(source, file);
  return [...readFileSync(file, "utf8").matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g)]
    .map(([, path]) => [from, normalize(join(dirname(from), path!))] as const)
    .filter(([, to]) => roomOf(to) !== "styles" && roomOf(to) !== roomOf(from));
});

it("every import is in the table", () => {
  const wrong = imports.filter(([from, to]) => !allowed.get(roomOf(from))?.includes(roomOf(to)));
  expect(wrong.map(([from, to]) => `${from} imports ${to}`)).toEqual([]);
});

it("the table has every room, and a room imports only those before it", () => {
  const names = rooms.map(([room]) => room);
  expect(new Set(filesIn(source).map((file) => roomOf(relative(source, file))))).toEqual(new Set(names));
  const later = rooms.flatMap(([, all], place) =>
    all.filter((each) => !names.slice(0, place).includes(each)),
  );
  expect(later).toEqual([]);
});

it("no file has more than 400 lines", () => {
  const long = filesIn(source).filter((file) => !file.endsWith("/schema.ts"));
  expect(long.filter((file) => readFileSync(file, "utf8").split("\n").length > 400)).toEqual([]);
});

// Sheets arrive with their chunks in any order, so which rule wins must not depend on the order. No sheet has an unused rule.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));
const read = (path: string) => readFileSync(`${source}/${path}`, "utf8");
const sheets = readdirSync(`${source}/styles`);
const code = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && path !== "api/schema.ts")
  .map(read)
  .join("\n");

const withoutComments = (css: string) => css.replace(/\/\*[^]*?\*\//g, "");

/** The selectors of a sheet, split at their commas. */
const selectorsOf = (sheet: string) =>
  [...withoutComments(read(`styles/${sheet}`)).matchAll(/([^{};]+)\{/g)]
    .map(([, text]) => text!.trim())
    .filter((text) => !text.startsWith("@"))
    .flatMap((text) => text.split(/,(?![^(]*\))/))
    .map((text) => text.trim());

const classesOf = (selector: string) => [...selector.matchAll(/\.([\w-]+)/g)].map(([, name]) => name!);

it("every rule is in a layer, and a sheet of its own puts the layers in their order before any other comes", () => {
  const order = /@layer ([\w, ]+);/.exec(read("../public/layers.css"))![1]!.split(", ");
  const page = read("../index.html");
  expect(page.indexOf("layers.css")).toBeGreaterThan(0);
  expect(page.indexOf("layers.css")).toBeLessThan(page.indexOf("<script"));
  for (const sheet of sheets) {
    const layered = withoutComments(read(`styles/${sheet}`))
      .replace(/@layer [\w, ]+;|@import "[^"]+" layer\(\w+\);/g, "")
      .trim();
    const [, layer] = /^@layer (\w+) \{\n(?: .*\n|\n)*\}$/.exec(layered) ?? [];
    expect(order, sheet).toContain(layer);
  }
});

it("the class that a selector begins with is of one sheet", () => {
  const owners = new Map<string, Set<string>>();
  for (const sheet of sheets)
    for (const selector of selectorsOf(sheet)) {
      const [first] = classesOf(selector);
      if (first !== undefined) owners.set(first, (owners.get(first) ?? new Set()).add(sheet));
    }
  const shared = [...owners].filter(([, all]) => all.size > 1).map(([name, all]) => [name, ...all]);
  expect(shared).toEqual([]);
});

describe("values are those of tokens.css:", () => {
  const declarations = sheets
    .filter((sheet) => sheet !== "tokens.css")
    .flatMap((sheet) =>
      [...withoutComments(read(`styles/${sheet}`)).matchAll(/([\w-]+):\s+([^;{}]+);/g)].map(
        ([, property, value]) => ({ sheet, property: property!, value: value! }),
      ),
    );
  const allowed: [what: string, property: RegExp, value: RegExp][] = [
    ["sizes of text", /^font(-size)?$/, /var\(--size-|^inherit$/],
    ["shadows", /^box-shadow$/, /^(var\(--shadow-\w+\)|inset [^]*)$/],
    ["levels", /^z-index$/, /^var\(--level-\w+\)$/],
    ["colours", /./, /^(?![^]*(#[\da-f]{3}|rgb\())/],
  ];

  it.each(allowed)("%s", (_, property, value) => {
    const some = declarations.filter((each) => property.test(each.property));
    expect(some.length).toBeGreaterThan(0);
    expect(some.filter((each) => !value.test(each.value))).toEqual([]);
  });

  it("widths of the window", () => {
    const widths = sheets.flatMap((sheet) =>
      [...read(`styles/${sheet}`).matchAll(/@media [^{]*width[^{]*/g)].flatMap(([text]) =>
        text.match(/\d+/g)!,
      ),
    );
    expect(new Set(widths)).toEqual(new Set(["390", "720", "1100"]));
  });
});

describe("what the sheets name is there:", () => {
  const isQuoted = (name: string) => new RegExp(`["'\` ]${name}["'\` $]`).test(code);
  const prefixes = [...code.matchAll(/[`" ]([a-z-]+-)\$\{/g)].map(([, prefix]) => prefix!);
  const isMade = (name: string) => prefixes.some((prefix) => prefix !== "c-" && name.startsWith(prefix));
  /** The class of a table is made of its name; the classes of its cells are made of the keys of the columns. */
  const isOfTable = (name: string) => {
    const key = /^c-(.+)$/.exec(name) ?? /^(.+)-table$/.exec(name);
    return key !== null && code.includes(`"${key[1]}"`);
  };
  const isOfLibrary = (name: string) => /^(u|cm)-/.test(name);

  it.each(sheets)("%s", (sheet) => {
    const known = [isQuoted, isMade, isOfTable, isOfLibrary];
    const named = new Set(selectorsOf(sheet).flatMap(classesOf));
    expect([...named].filter((name) => !known.some((isKnown) => isKnown(name)))).toEqual([]);
  });

  it("tokens", () => {
    const all = sheets.map((sheet) => read(`styles/${sheet}`)).join("\n") + code;
    const tokens = [...read("styles/tokens.css").matchAll(/(--[\w-]+):/g)].map(([, name]) => name!);
    const isRead = (token: string) => all.includes(`var(${token}`) || all.includes(`"${token}`);
    const unread = tokens.filter((token) => !isRead(token) && !token.startsWith("--series-"));
    expect(unread).toEqual([]);
  });
});

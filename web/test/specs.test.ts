import { expect, it } from "vitest";
import type { SpecFile } from "../src/api/types";
import { countSpecs, placeOf, shownSpecs, specFilterFrom, toggledSpecState } from "../src/model/specs";

const spec = (path: string, state: SpecFile["state"]): SpecFile => ({
  ...{ path, state, commit: "c", problems: [] },
  experiment: state === "submitted" ? 1 : null,
});
const specs = [
  spec("b.yaml", "submitted"),
  spec("z.yaml", "refused"),
  spec("a/B.yaml", "refused"),
  spec("a.yaml", "left"),
];
const pathsOf = (address: string) =>
  shownSpecs(specs, specFilterFrom(new URLSearchParams(address))).map(({ path }) => path);

it("shows those that were refused first, then by path", () => {
  expect(pathsOf("")).toEqual(["a/B.yaml", "z.yaml", "b.yaml", "a.yaml"]);
  expect(countSpecs(specs)).toEqual({ refused: 2, submitted: 1, left: 1 });
});

it("filters by path and state, and takes no state that there is not", () => {
  expect(pathsOf("q=B")).toEqual(["a/B.yaml", "b.yaml"]);
  expect(pathsOf("state=left,submitted")).toEqual(["b.yaml", "a.yaml"]);
  expect(pathsOf("state=lost")).toHaveLength(4);
  expect(toggledSpecState(new Set(["left"]), "refused")).toBe("refused,left");
  expect(toggledSpecState(new Set(["left"]), "left")).toBe("");
});

it("names the place of a problem by its line, else as the coordinator does", () => {
  const at = (where: string) => placeOf({ where, message: "wrong" });
  expect(at("configs/a.yaml:12:3")).toBe("line 12, column 3");
  expect(at("configs/a.yaml:12")).toBe("line 12");
  expect(at("the file")).toBe("the file");
  expect(at("")).toBe("");
});

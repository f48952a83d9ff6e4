import { expect, it } from "vitest";
import { matchRoute, routes, sectionOf, titleOf } from "../src/routes";

const titles = (...paths: string[][]) =>
  paths.map((path) => {
    const match = matchRoute(path);
    return match && titleOf(match);
  });

it("addresses lead to pages, with a number where one belongs", () => {
  expect(titles([], ["jobs"], ["jobs", "57"], ["experiments", "9"], ["queue"])).toEqual([
    "Overview",
    "Jobs",
    "Job 57",
    "Experiment 9",
    "Queue",
  ]);
});

it("whatever else is no page", () => {
  expect(
    titles(["nowhere"], ["jobs", "x"], ["jobs", "0"], ["jobs", "1e3"], ["queue", "1"], ["jobs", "1", "log"]),
  ).toEqual([null, null, null, null, null, null]);
});

it("every address belongs to a page of the navigation", () => {
  const sections = [[], ["jobs", "57"], ["experiments", "9"], ["specs"]].map(sectionOf);
  expect(sections).toEqual(["overview", "jobs", "experiments", "experiments"]);
});

it("no two pages have one key or one path", () => {
  const keys = routes.flatMap(({ key }) => key ?? []);
  expect(new Set(keys).size).toBe(keys.length);
  expect(new Set(routes.map(({ path }) => path)).size).toBe(routes.length);
});

import { expect, it } from "vitest";
import { formatHash, parseHash, withParams } from "../src/state/router";

it("an address becomes a path and parameters and the same address again", () => {
  for (const hash of [
    "#/jobs",
    "#/jobs/12?x=time&flip=train/loss,eval/loss",
    "#/jobs?q=team:nlp&state=queued,running",
  ]) {
    expect(formatHash(parseHash(hash))).toBe(hash);
  }
});

it("takes an empty and a broken address as they come", () => {
  expect(parseHash("").path).toEqual([]);
  expect(parseHash("#/jobs/%E0%A4%A").path).toEqual(["jobs", "%E0%A4%A"]);
});

it("sets parameters and removes those without a value", () => {
  const route = withParams(parseHash("#/jobs?q=a&sort=loss"), { q: "", state: "queued" });
  expect(formatHash(route)).toBe("#/jobs?sort=loss&state=queued");
});

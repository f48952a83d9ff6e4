import { expect, it } from "vitest";
import {
  latestLoss,
  latestThroughput,
  queryOf,
  sortFrom,
  sortParam,
  toggledState,
  viewFrom,
} from "../src/model/job_list";
import { job } from "./samples";

const view = (address: string, experiment: number | null = null) =>
  viewFrom(new URLSearchParams(address), experiment);

it("asks for what the address says, as GET /jobs has it", () => {
  expect(queryOf(view(""))).toEqual({ sort: "-id" });
  expect(queryOf(view("q=bert+team:nlp&state=running,queued&sort=loss", 4))).toEqual({
    ...{ q: "bert team:nlp", state: "queued,running", sort: "loss", experiment: "4" },
  });
});

it("asks nothing anew for a space that is typed", () => {
  expect(queryOf(view("q=bert+"))).toEqual(queryOf(view("q=bert")));
  expect(view("q=bert+").text).toBe("bert ");
});

it("ignores states and orders that are none", () => {
  expect(queryOf(view("state=queued,lost&sort=nonsense"))).toEqual({ state: "queued", sort: "-id" });
});

it("toggles a state in the address", () => {
  const { states } = view("state=running");
  expect(toggledState(states, "queued")).toBe("queued,running");
  expect(toggledState(states, "running")).toBe("");
});

it("turns an order round on a second click and leaves the default out of the address", () => {
  expect(sortFrom(new URLSearchParams(""))).toEqual({ key: "id", descending: true });
  expect(sortParam({ key: "id", descending: true }, "loss")).toBe("-loss");
  expect(sortParam({ key: "loss", descending: true }, "loss")).toBe("loss");
  expect(sortParam({ key: "loss", descending: true }, "id")).toBeNull();
});

it("reads a loss that is not a number as the word on the wire", () => {
  expect(latestLoss(job({ latest: { "train/loss": "NaN" } }))).toBeNaN();
  expect(latestLoss(job({ latest: {} }))).toBeNull();
});

it("takes sequences a second before tokens", () => {
  const tokens = { "train/tokens_per_second": 900 };
  expect(latestThroughput(job({ latest: tokens }))).toEqual({ value: 900, unit: "tok/s" });
  const both = { ...tokens, "train/sequences_per_second": 7 };
  expect(latestThroughput(job({ latest: both }))).toEqual({ value: 7, unit: "seq/s" });
});

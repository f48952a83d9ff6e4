import { describe, expect, it } from "vitest";
import {
  anchoredScroll,
  filterFrom,
  filterJobs,
  latestLoss,
  sortFrom,
  sortJobs,
  sortParam,
  toggledState,
} from "../src/model/job_list";
import { job } from "./samples";

const params = (text: string) => new URLSearchParams(text);
const ids = (jobs: { id: number }[]) => jobs.map(({ id }) => id);

describe("filter", () => {
  const jobs = [
    job({ id: 1, name: "bert-large", state: "running", labels: { team: "nlp" } }),
    job({ id: 2, name: "bert-mini", state: "queued", labels: { team: "speech" } }),
    job({ id: 3, name: "gpt-1.3b", state: "failed", experiment: 4 }),
  ];

  it("takes words of the name, in any case and any order", () => {
    expect(ids(filterJobs(jobs, filterFrom(params("q=LARGE+bert"))))).toEqual([1]);
  });

  it("takes labels as key:value and jobs by number", () => {
    expect(ids(filterJobs(jobs, filterFrom(params("q=team:sp"))))).toEqual([2]);
    expect(ids(filterJobs(jobs, filterFrom(params("q=owner:"))))).toEqual([]);
    expect(ids(filterJobs(jobs, filterFrom(params("q=%233"))))).toEqual([3]);
  });

  it("takes several states and ignores words that are none", () => {
    expect(ids(filterJobs(jobs, filterFrom(params("state=queued,failed,lost"))))).toEqual([2, 3]);
  });

  it("takes one experiment", () => {
    expect(ids(filterJobs(jobs, filterFrom(params(""), 4)))).toEqual([3]);
  });

  it("toggles a state in the address", () => {
    const { states } = filterFrom(params("state=running"));
    expect(toggledState(states, "queued")).toBe("queued,running");
    expect(toggledState(states, "running")).toBe("");
  });
});

describe("sort", () => {
  const jobs = [
    job({ id: 1, latest: { "train/loss": 2 } }),
    job({ id: 2, latest: {} }),
    job({ id: 3, latest: { "train/loss": 1 } }),
    job({ id: 4, latest: { "train/loss": 2 } }),
  ];

  it("is newest first unless the address says otherwise", () => {
    expect(ids(sortJobs(jobs, sortFrom(params(""))))).toEqual([4, 3, 2, 1]);
    expect(sortFrom(params("sort=nonsense"))).toEqual({ key: "id", descending: true });
  });

  it("puts jobs without a value last both ways, and ties newest first", () => {
    expect(ids(sortJobs(jobs, sortFrom(params("sort=loss"))))).toEqual([3, 4, 1, 2]);
    expect(ids(sortJobs(jobs, sortFrom(params("sort=-loss"))))).toEqual([4, 1, 3, 2]);
  });

  it("turns round on a second click and leaves the default out of the address", () => {
    expect(sortParam({ key: "id", descending: true }, "loss")).toBe("-loss");
    expect(sortParam({ key: "loss", descending: true }, "loss")).toBe("loss");
    expect(sortParam({ key: "loss", descending: true }, "id")).toBeNull();
  });
});

describe("anchoredScroll", () => {
  const before = [5, 4, 3, 2, 1].map((id) => job({ id }));

  it("follows the row that is being read when rows come in above it", () => {
    const after = [job({ id: 7 }), job({ id: 6 }), ...before];
    expect(anchoredScroll(before, after, 25, 10)).toBe(45);
  });

  it("stays where it is at the very top, and when the row is gone", () => {
    expect(anchoredScroll(before, [job({ id: 6 }), ...before], 5, 10)).toBe(5);
    expect(
      anchoredScroll(
        before,
        before.filter(({ id }) => id !== 3),
        25,
        10,
      ),
    ).toBe(25);
  });
});

it("reads a loss that is not a number as the word on the wire", () => {
  expect(latestLoss(job({ latest: { "train/loss": "NaN" } }))).toBeNaN();
  expect(latestLoss(job({ latest: {} }))).toBeNull();
});

it("finds the jobs of an account and of those below it", () => {
  const all = ["nlp", "nlp/bert", "nlp2", "default"].map((account, index) => job({ id: index + 1, account }));
  const found = (q: string) =>
    filterJobs(all, filterFrom(new URLSearchParams({ q }))).map(({ account }) => account);
  expect(found("account:nlp")).toEqual(["nlp", "nlp/bert"]);
  expect(found("account:NLP/bert")).toEqual(["nlp/bert"]);
  expect(found("account:")).toHaveLength(4);
});

import { expect, it } from "vitest";
import { describeLimit, describeOthers, describeRestarts } from "../src/model/restarts";

const none = { failures: 0, requeues: 0, moves: 0, node_losses: 0, preemptions: 0, resizes: 0 };

it("restarts are told by what brought them about", () => {
  expect(describeRestarts(none)).toBe("");
  expect(describeRestarts({ ...none, failures: 2, resizes: 1, node_losses: 1 })).toBe(
    "2 failures, 1 lost node, 1 resize",
  );
});

it("only failures count against the limit", () => {
  const counts = { ...none, failures: 1, preemptions: 3 };
  expect(describeLimit(counts, 5)).toBe("1 of 5 failures");
  expect(describeOthers(counts)).toBe("3 preemptions");
});

import { expect, it } from "vitest";
import { describeLimit, describeOthers, describeRestarts } from "../src/model/restarts";
import { job, noRestarts as none } from "./samples";

it("restarts are told by what brought them about", () => {
  expect(describeRestarts(none)).toBe("");
  expect(describeRestarts({ ...none, failures: 2, resizes: 1, node_losses: 1 })).toBe(
    "2 failures, 1 lost node, 1 resize",
  );
});

it("only failures since the last requeue count against the limit", () => {
  const restarted = job({
    restart_counts: { ...none, failures: 3, preemptions: 3 },
    restarts_used: 1,
    max_restarts: 5,
  });
  expect(describeLimit(restarted)).toBe("1 of 5 failures");
  expect(describeOthers(restarted)).toBe("2 failures, 3 preemptions");
});

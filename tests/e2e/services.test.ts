// The services, how far a new spec is, and which replicas answer.
import { expect, it } from "vitest";
import { useStage } from "./support/stage";

const stage = useStage(5);

it("shows each service with its replicas, those that answer first", async () => {
  const page = await stage.open("#/services");
  const answers = page.getByRole("region", { name: "Service answers" });
  await answers
    .getByText("Experiment 9000 takes the place of experiment 8000: job 4 is not ready yet")
    .waitFor();
  expect(await answers.locator("tbody th").allTextContents()).toEqual(["3", "4", "5"]);
  expect(await answers.locator("tbody td:first-of-type").allTextContents()).toEqual([
    "ready",
    "not ready",
    "paused",
  ]);
  await page.getByText("Job 6 failed: exit code 65: no such model").waitFor();
});

it("says how to have services where there are none", async () => {
  stage.coordinator.services = [];
  const page = await stage.open("#/services");
  await page.getByText("Submit a spec with").waitFor();
});

// The states of the specs in git, and why some were refused.
import { expect, it } from "vitest";
import { useStage } from "./support/stage";

const stage = useStage(5);

it("shows each repository with its specs, those that were refused first with every error at its place", async () => {
  const page = await stage.open("#/specs");
  const repository = page.getByRole("region", { name: "Repository experiments" });
  const rows = repository.locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.locator("th").allTextContents()).toEqual([
    expect.stringMatching(/^configs\/bert-large.yaml.*line 7, column 14.*"lamb"\?.*line 18, column 3/),
    expect.stringContaining("configs/torn.yaml the file is empty"),
    "configs/quickstart.yaml",
    "configs/old.yaml",
  ]);
  expect(await repository.locator("header").textContent()).toMatch(
    /experiments3f9c1e7a5b2dmainhttps:\/\/git.example.org\/nlp\/experiments.git\*.yaml.*read \d+s ago/,
  );
  await repository.getByRole("link", { name: "experiment 9000" }).click();
  await page.getByRole("heading", { name: "9000 quickstart" }).waitFor();
});

it("says why a repository could not be looked at", async () => {
  const page = await stage.open("#/specs");
  const repository = page.getByRole("region", { name: "Repository speech" });
  await repository
    .getByText("The last attempt to read it failed: the host git.example.org is not known")
    .waitFor();
  await repository.getByText("not read yet").waitFor();
});

it("filters by state and path, in the address", async () => {
  const page = await stage.open("#/specs");
  const rows = page.locator(".specs tbody tr");
  await page.getByRole("button", { name: "refused 2" }).click();
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByLabel("Filter specs").fill("TORN");
  await expect.poll(() => rows.count()).toBe(1);
  expect(new URL(page.url()).hash).toBe("#/specs?state=refused&q=TORN");
  await page.getByLabel("Filter specs").fill("nothing");
  await page.getByText("None of its specs matches this filter.").waitFor();
});

it("says how to begin where no repository is watched", async () => {
  stage.coordinator.specs = [];
  const page = await stage.open("#/specs");
  await page.getByText("No repository is watched").waitFor();
  await page.getByText("podium-coordinator --specs URL").waitFor();
});

it("is come to from the experiments, which tell how many were refused", async () => {
  const page = await stage.open("#/experiments");
  const link = page.getByRole("link", { name: "Specs in git" });
  await link.getByText("2 refused").waitFor();
  await link.click();
  await page.getByRole("heading", { name: "Specs in git" }).waitFor();
  expect(
    await page.getByRole("link", { name: "Experiments", exact: true }).getAttribute("aria-current"),
  ).toBe("page");
  expect(await page.title()).toBe("Specs in git · Podium");
});

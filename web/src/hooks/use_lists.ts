// Lists that are read as a whole and that the live stream keeps up to date: nodes and experiments.
import { getExperimentPage, getStudyPage } from "../api/client";
import type { Experiment, StudyFields, StudyPage } from "../api/types";
import type { Ask } from "../state/queries";
import { cluster, type Loaded } from "../state/store";
import { useInterval } from "./use_interval";
import { useAnswer, useQuery, type Shown } from "./use_query";

const studiesMs = 10_000;

/** The nodes are in `nodes` as they arrive. A change of `inputs` fetches them again. */
export const useNodes = (inputs: unknown[] = []): Shown<Loaded> =>
  useAnswer("nodes", (asking) => cluster.loadNodes(asking), inputs, true);

/** An experiment never changes, so only those newer than the newest known are fetched. */
export const askForExperiments: Ask<Experiment[]> = async ({ before, signal, show }) => {
  const newest = before?.[0]?.id ?? 0;
  const news: Experiment[] = [];
  let pageToken: string | undefined;
  do {
    const page = await getExperimentPage(pageToken, signal);
    const fresh = page.experiments.filter(({ id }) => id > newest);
    news.push(...fresh);
    if (newest === 0) show([...news]);
    pageToken = fresh.length === page.experiments.length ? page.next_page_token : undefined;
  } while (pageToken !== undefined);
  return [...news, ...(before ?? [])];
};

/** The newest first. They are fetched again at intervals, because their jobs change. */
export const useStudies = (): Shown<StudyFields[]> =>
  useQuery(
    "studies",
    async (signal) => {
      const studies: StudyFields[] = [];
      let pageToken: string | undefined;
      do {
        const page: StudyPage = await getStudyPage(pageToken, signal);
        studies.push(...page.studies);
        pageToken = page.next_page_token;
      } while (pageToken !== undefined);
      return studies;
    },
    [cluster.newestExperiment.value, useInterval(studiesMs)],
  );

/** The newest first. They are fetched again when a job of an unknown experiment arrives. */
export function useExperiments(): Shown<Experiment[]> {
  return useAnswer("experiments", askForExperiments, [cluster.newestExperiment.value]);
}

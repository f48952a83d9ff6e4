// Lists that are read whole and kept up to date by the live stream: nodes and experiments.
import { getExperimentPage, getStudyPage } from "../api/client";
import type { Experiment, StudyFields, StudyPage } from "../api/types";
import type { Ask } from "../state/queries";
import { cluster, type Loaded } from "../state/store";
import { useInterval } from "./use_interval";
import { useAnswer, useQuery, type Shown } from "./use_query";

const studiesMs = 10_000;

/** They are in `nodes` as they come; `inputs` ask for fresh copies. */
export const useNodes = (inputs: unknown[] = []): Shown<Loaded> =>
  useAnswer("nodes", (asking) => cluster.loadNodes(asking), inputs, true);

/** An experiment never changes, so that only those newer than the newest known are asked for. */
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

/** Newest first. Asked for again every so often, for their jobs move. */
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

/** Newest first. Asked for again when a job of an unknown one has come. */
export function useExperiments(): Shown<Experiment[]> {
  return useAnswer("experiments", askForExperiments, [cluster.newestExperiment.value]);
}

// Every job of a list, for operations on all of them: page by page, so that no job is missed and none is listed twice.
import { getJobPage } from "../api/client";
import type { Job } from "../api/types";
import { queryOf, type JobView } from "../model/job_list";

const pageSize = "1000";

export async function askForAllJobs(view: JobView, signal: AbortSignal): Promise<Job[]> {
  const query = { ...queryOf(view), sort: "-id", limit: pageSize };
  const all: Job[] = [];
  let next: string | undefined;
  do {
    const place: Record<string, string> = next === undefined ? {} : { page_token: next };
    const page = await getJobPage({ ...query, ...place }, signal);
    all.push(...page.jobs);
    next = page.next_page_token;
  } while (next !== undefined);
  return all;
}

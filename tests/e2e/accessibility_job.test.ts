// axe-core finds nothing to complain about on the page of a job, whatever the job and the tab.
import { isOfOneJob, looksAt } from "./support/accessible";

looksAt(isOfOneJob);

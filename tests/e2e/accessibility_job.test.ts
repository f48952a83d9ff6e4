// axe-core finds no violation on the page of a job, in any state and tab.
import { isOfOneJob, looksAt } from "./support/accessible";

looksAt(isOfOneJob);

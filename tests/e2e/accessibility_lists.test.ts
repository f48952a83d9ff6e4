// axe-core finds nothing to complain about on pages of lists, nor on those of which nobody said that they are of jobs.
import { isOfComparison, isOfOneJob, isOfStudies, looksAt } from "./support/accessible";

looksAt((sample) => ![isOfOneJob, isOfComparison, isOfStudies].some((isOther) => isOther(sample)));

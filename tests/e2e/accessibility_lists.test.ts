// axe-core finds no violation on pages of lists, and on all pages that the other files do not check.
import { isOfComparison, isOfOneJob, isOfStudies, looksAt } from "./support/accessible";

looksAt((sample) => ![isOfOneJob, isOfComparison, isOfStudies].some((isOther) => isOther(sample)));

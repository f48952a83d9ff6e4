// axe-core finds no violation on pages that compare jobs.
import { isOfComparison, looksAt } from "./support/accessible";

looksAt(isOfComparison);

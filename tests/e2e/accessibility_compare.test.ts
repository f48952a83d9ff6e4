// axe-core finds nothing to complain about on pages that set jobs beside each other.
import { isOfComparison, looksAt } from "./support/accessible";

looksAt(isOfComparison);

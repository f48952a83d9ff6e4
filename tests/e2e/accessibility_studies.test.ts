// axe-core finds nothing to complain about on studies and on the list of them.
import { isOfStudies, looksAt } from "./support/accessible";

looksAt(isOfStudies);

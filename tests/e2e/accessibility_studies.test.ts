// axe-core finds no violation on studies and their list.
import { isOfStudies, looksAt } from "./support/accessible";

looksAt(isOfStudies);

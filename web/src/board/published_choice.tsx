// The choice of published results to show beside one's own runs. It is absent if nothing is published.
import type { PublishedRow } from "../api/types";
import { benchmarksOf } from "../model/study";
import { pushParams } from "../state/router";
import { alike, SelectLine } from "../ui/select_line";

interface Properties {
  rows: readonly PublishedRow[];
  /** From the address; null: none. */
  benchmark: string | null;
}

export function PublishedChoice({ rows, benchmark }: Properties) {
  const names = benchmarksOf(rows);
  if (names.length === 0) return null;
  return (
    <SelectLine
      title="Published results"
      label="Published results to show"
      value={benchmark !== null && names.includes(benchmark) ? benchmark : ""}
      options={[["", "nothing"], ...alike(names)]}
      onChange={(value) => pushParams({ published: value })}
    />
  );
}

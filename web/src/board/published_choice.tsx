// Which published benchmark stands beside one's own runs; absent where nothing is published.
import type { PublishedRow } from "../api/types";
import { benchmarksOf } from "../model/study";
import { pushParams } from "../state/router";
import { alike, SelectLine } from "../ui/select_line";

interface Properties {
  rows: readonly PublishedRow[];
  /** Of the address; null: none. */
  benchmark: string | null;
}

export function PublishedChoice({ rows, benchmark }: Properties) {
  const names = benchmarksOf(rows);
  if (names.length === 0) return null;
  return (
    <SelectLine
      title="Beside it, published"
      label="Published figures beside it"
      value={benchmark !== null && names.includes(benchmark) ? benchmark : ""}
      options={[["", "nothing"], ...alike(names)]}
      onChange={(value) => pushParams({ published: value })}
    />
  );
}

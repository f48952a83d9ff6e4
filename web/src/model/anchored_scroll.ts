import { findRow, type RowId, type Rows } from "./rows";

/**
 * Where to scroll so that the row at the top stays there after the list has changed. At the very top the list does
 * not scroll, so that the reader sees new rows.
 */
export function anchoredScroll<Row>(
  before: Rows<Row>,
  after: Rows<Row>,
  idOf: (row: Row) => RowId,
  scrollTop: number,
  rowHeight: number,
): number {
  const index = Math.floor(scrollTop / rowHeight);
  const anchor = before.at(index);
  if (index === 0 || anchor === undefined) return scrollTop;
  const id = idOf(anchor);
  const same = after.at(index);
  if (same !== undefined && idOf(same) === id) return scrollTop;
  const moved = findRow(after, (row) => idOf(row) === id);
  return moved < 0 ? scrollTop : scrollTop + (moved - index) * rowHeight;
}

// Rows in order, some of which may not be loaded. An array is a list that is loaded as a whole.

/** What identifies a row while rows move. */
export type RowId = number | string;

export interface Rows<Row> {
  readonly length: number;
  at(index: number): Row | undefined;
  /** The loaded rows. */
  entries(): Iterable<[number, Row]>;
}

/** -1: no loaded row fits. */
export function findRow<Row>(rows: Rows<Row>, isIt: (row: Row) => boolean): number {
  for (const [index, row] of rows.entries()) if (isIt(row)) return index;
  return -1;
}

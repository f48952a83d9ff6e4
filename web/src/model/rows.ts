// Rows in order, of which some may not be known yet: a list that is whole is an array of them.

/** What a row is known by while rows move. */
export type RowId = number | string;

export interface Rows<Row> {
  readonly length: number;
  at(index: number): Row | undefined;
  /** Those that are known. */
  entries(): Iterable<[number, Row]>;
}

/** -1: none that is known. */
export function findRow<Row>(rows: Rows<Row>, isIt: (row: Row) => boolean): number {
  for (const [index, row] of rows.entries()) if (isIt(row)) return index;
  return -1;
}

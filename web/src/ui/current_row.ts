// The row of a table that the keyboard is on. It is chosen by its index and identified by its id, because rows move and a
// chosen row may not be loaded yet.
import { useLayoutEffect, useState } from "preact/hooks";
import { findRow, type RowId, type Rows } from "../model/rows";
import { recall, remember } from "../state/places";

interface Current<Row> {
  /** Its last known index. */
  index: number;
  /** Null while it is not loaded. */
  row: Row | null;
}

export interface CurrentRow<Row> {
  row: Row | null;
  /** -1: there is none. */
  index(): number;
  is(index: number, row: Row | undefined): boolean;
  choose(index: number): void;
}

export function useCurrentRow<Row>(rows: Rows<Row>, idOf: (row: Row) => RowId): CurrentRow<Row> {
  const [current, setCurrent] = useState<Current<Row> | null>(() => recall<Current<Row>>("row") ?? null);
  const choose = (index: number) => {
    const next = { index, row: rows.at(index) ?? null };
    setCurrent(next);
    remember("row", next);
  };
  const loaded = current?.row === null ? rows.at(current.index) : undefined;
  useLayoutEffect(() => {
    if (current && loaded !== undefined) choose(current.index);
  }, [loaded]);
  const isIt = (row: Row) => current?.row != null && idOf(row) === idOf(current.row);
  return {
    row: current?.row ?? null,
    index() {
      if (!current) return -1;
      const seen = current.row === null ? -1 : findRow(rows, isIt);
      return seen < 0 ? Math.min(current.index, rows.length - 1) : seen;
    },
    is: (index, row) => (row === undefined ? current?.row === null && current.index === index : isIt(row)),
    choose,
  };
}

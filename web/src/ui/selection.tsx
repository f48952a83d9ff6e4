// Which rows of a table are selected. The selection is kept with the entry of the browser's history, so that a visit to a
// row does not lose it.
import { useState } from "preact/hooks";
import type { RowId } from "../model/rows";
import { recall, remember } from "../state/places";
import type { Column } from "./data_table";

export interface Chosen<Id extends RowId = number> {
  ids: ReadonlySet<Id>;
  set(ids: readonly Id[], on: boolean): void;
  clear(): void;
}

/** All rows of the list, even those that are not loaded. */
export interface AllRows {
  checked: boolean;
  /** The rows are being fetched. */
  busy: boolean;
  set(on: boolean): void;
}

export interface Selection<Id extends RowId = number> extends Chosen<Id> {
  all: AllRows;
}

/** `name` tells tables of the same page apart. */
export function useChosen(name = ""): Chosen {
  const key = `selected ${name}`;
  const [ids, setIds] = useState<ReadonlySet<number>>(() => recall(key) ?? new Set());
  const keep = (change: (before: ReadonlySet<number>) => ReadonlySet<number>) =>
    setIds((before) => {
      const next = change(before);
      remember(key, next);
      return next;
    });
  return {
    ids,
    set: (changed, on) =>
      keep((before) => {
        const next = new Set(before);
        for (const id of changed)
          if (on) next.add(id);
          else next.delete(id);
        return next;
      }),
    clear: () => keep(() => new Set()),
  };
}

/** A column of checkboxes; the one in the head selects all rows. */
export function selectColumn<Row, Id extends RowId>(
  { ids, all, set }: Selection<Id>,
  idOf: (row: Row) => Id,
  nameOf: (row: Row) => string,
): Column<Row> {
  return {
    key: "select",
    title: (
      <input
        type="checkbox"
        aria-label="Select all rows"
        checked={all.checked || all.busy}
        disabled={all.busy}
        onChange={(event) => all.set(event.currentTarget.checked)}
      />
    ),
    width: "16px",
    cell: (row) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select ${nameOf(row)}`}
        checked={ids.has(idOf(row))}
        onChange={(event) => set([idOf(row)], event.currentTarget.checked)}
      />
    ),
  };
}

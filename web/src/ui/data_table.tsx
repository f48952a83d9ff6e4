// A table whose rows open pages: virtual rows below a fixed head, sorted by a click, walked by keyboard. Columns are data. A
// column is left out if it has nothing to show or if the table is too narrow for it. Rows are given in order; placeholders
// stand for rows that are not loaded.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useScrollPlace } from "../hooks/use_scroll_place";
import { useVirtual } from "../hooks/use_virtual";
import { useWidth } from "../hooks/use_width";
import { anchoredScroll } from "../model/anchored_scroll";
import type { Order, Value } from "../model/order";
import { findRow, type RowId, type Rows } from "../model/rows";
import { isShortcut } from "../state/keyboard";
import { navigate, place } from "../state/router";
import { useCurrentRow } from "./current_row";
import { DataRow, RowShape } from "./data_row";
import { selectColumn, type Selection } from "./selection";
import "../styles/data_table.css";

export interface Column<Row> {
  key: string;
  title: ComponentChildren;
  /** Explains the title. */
  hint?: string;
  /** A track of a CSS grid. */
  width: string;
  number?: boolean;
  /** A long text may take two lines. */
  wraps?: boolean;
  /** The owner of the rows can sort them by this column. */
  sortable?: boolean;
  /** The value to sort by, for a table that has all of its rows (hooks/use_order.ts). */
  value?(row: Row): Value;
  /** The least width of the table in pixels that shows the column. */
  from?: number;
  /** Whether the column has something to show for a row. A column that has nothing for any row is left out. */
  has?(row: Row): boolean;
  cell(row: Row): ComponentChildren;
}

interface Properties<Row, Id extends RowId> {
  label: string;
  /** Names its styles in narrow windows, where rows become cards. */
  name: string;
  rows: Rows<Row>;
  /** Even the number of rows is not known yet. */
  pending?: boolean;
  /** Reports which rows are in sight: the first and the last. */
  onSight?(top: number, bottom: number): void;
  columns: readonly Column<Row>[];
  order: Order;
  onSort(key: string): void;
  idOf(row: Row): Id;
  hrefOf(row: Row): string;
  /** Rows move only when others are added or removed, so the reader's place is kept. */
  stable: boolean;
  /** Names filter and order: the table starts at its top when it changes. */
  view: string;
  cardHeight: number;
  /** Rows can be selected by their box, or the current one by x. */
  selection?: Selection<Id>;
  nameOf?(row: Row): string;
  /** Handles other keys for the current row; returns whether it handled this one. */
  onKey?(key: string, row: Row): boolean;
}

/** In narrower windows rows are cards, which show every column (styles/data_table.css). */
const narrowest = 720;
const headHeight = 34;
const lineHeight = 36;

export function DataTable<Row, Id extends RowId>(properties: Properties<Row, Id>) {
  const { label, name, rows, pending, idOf, hrefOf, view, selection, nameOf = String, onKey } = properties;
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const cards = innerWidth < narrowest;
  const rowHeight = cards ? properties.cardHeight : lineHeight;
  const head = cards ? 0 : headHeight;
  const columns = useMemo(
    () =>
      selection && !cards
        ? [selectColumn(selection, idOf, nameOf), ...properties.columns]
        : properties.columns,
    [properties.columns, selection?.ids, selection?.all.checked, selection?.all.busy, cards],
  );
  const shown = useShownColumns(columns, rows, view, cards ? Infinity : width);
  const virtualizer = useVirtual(scroller, rows.length, rowHeight, head);
  const current = useCurrentRow(rows, idOf);
  useAnchor(scroller, properties, rowHeight);
  useScrollPlace("table", scroller, place.value);
  useTopOnChange(scroller, view, place.value);

  const move = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    current.choose(index);
    virtualizer.scrollToIndex(index, { align: "auto" });
  };
  useTableKeys(scroller, (key) => {
    const at = current.index();
    const page = Math.max(1, Math.floor(((scroller.current?.clientHeight ?? 0) - head) / rowHeight) - 1);
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page }[key];
    if (step !== undefined) move(at < 0 ? 0 : at + step);
    else if (key === "Home") move(0);
    else if (key === "End") move(rows.length - 1);
    else if (key === "Enter" && current.row !== null) navigate(hrefOf(current.row));
    else if (key === "x" && current.row !== null && selection) {
      const id = idOf(current.row);
      selection.set([id], !selection.ids.has(id));
    } else return current.row !== null && (onKey?.(key, current.row) ?? false);
    return true;
  });

  const items = virtualizer.getVirtualItems();
  // A row that scrolls out lends its elements to one that scrolls in: refilling is cheaper than making new ones.
  const slots = useRef(0);
  slots.current = Math.max(slots.current, items.length);
  const range = virtualizer.range;
  useLayoutEffect(() => {
    if (range) properties.onSight?.(range.startIndex, range.endIndex);
  });
  const tracks = shown.map((column) => column.width).join(" ");
  const height = virtualizer.getTotalSize();
  const drawn = items.map((item) => ({ ...item, row: rows.at(item.index) }));
  const active = drawn.find(({ index, row }) => row !== undefined && current.is(index, row))?.row;
  return (
    <div
      ref={scroller}
      class={`data-table ${name}-table`}
      style={{ "--columns": tracks, "--height": `${height + head + 2}px` }}
      role="grid"
      aria-label={label}
      aria-multiselectable={selection ? true : undefined}
      aria-rowcount={pending ? -1 : rows.length + 1}
      aria-busy={drawn.some(({ row }) => row === undefined)}
      aria-activedescendant={active === undefined ? undefined : `${name}-row-${idOf(active)}`}
      tabIndex={0}
    >
      <Head {...properties} columns={shown} />
      <div role="rowgroup" class="data-rows" style={{ height: `${height}px` }}>
        {drawn.map(({ index, start, row }) => {
          const key = index % slots.current;
          const isCurrent = current.is(index, row);
          const box = { top: start, height: rowHeight };
          if (row === undefined) return <RowShape key={key} columns={shown} box={box} current={isCurrent} />;
          return (
            <DataRow
              key={key}
              id={`${name}-row-${idOf(row)}`}
              row={row}
              columns={shown}
              index={index}
              box={box}
              current={isCurrent}
              selected={selection?.ids.has(idOf(row))}
              href={hrefOf(row)}
              onChoose={() => current.choose(index)}
            />
          );
        })}
      </div>
    </div>
  );
}

/**
 * Keeps its identity while the same columns are shown, so that rows need not be redrawn. A column that had
 * something to show stays while more rows are loaded.
 */
function useShownColumns<Row>(columns: readonly Column<Row>[], rows: Rows<Row>, view: string, width: number) {
  const seen = useRef({ view, keys: new Set<string>() });
  if (seen.current.view !== view) seen.current = { view, keys: new Set() };
  const { keys } = seen.current;
  useMemo(() => {
    for (const { key, has } of columns) if (has && !keys.has(key) && findRow(rows, has) >= 0) keys.add(key);
  }, [columns, rows, keys]);
  const isEmpty = findRow(rows, () => true) < 0;
  const shown = columns.filter(
    ({ key, from = 0, has }) => width >= from && (isEmpty || !has || keys.has(key)),
  );
  const names = shown.map(({ key }) => key).join(" ");
  return useMemo(() => shown, [columns, names]);
}

function Head<Row, Id extends RowId>({ columns, order, onSort }: Properties<Row, Id>) {
  return (
    <div role="rowgroup" class="data-head">
      <div role="row" class="data-row" aria-rowindex={1}>
        {columns.map(({ key, title, hint, number, value, sortable = value !== undefined }) => {
          const sorted =
            sortable && order.key === key ? (order.descending ? "descending" : "ascending") : null;
          return (
            <span
              key={key}
              role="columnheader"
              class={`c-${key}${number ? " number" : ""}`}
              aria-sort={sortable ? (sorted ?? "none") : undefined}
              title={hint}
            >
              {sortable ? (
                <button type="button" class="sort-button" onClick={() => onSort(key)}>
                  {title}
                  <span class="sort-mark" aria-hidden="true">
                    {sorted === null ? "" : sorted === "descending" ? "↓" : "↑"}
                  </span>
                </button>
              ) : (
                title
              )}
            </span>
          );
        })}
      </div>
    </div>
  );
}

/** Keeps the reader's place while rows are added and removed above it. */
function useAnchor<Row, Id extends RowId>(
  scroller: RefObject<HTMLElement>,
  { rows, stable, idOf }: Properties<Row, Id>,
  rowHeight: number,
): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && stable && before.current !== rows) {
      const next = anchoredScroll(before.current, rows, idOf, element.scrollTop, rowHeight);
      if (next !== element.scrollTop) element.scrollTop = next;
    }
    before.current = rows;
  }, [rows]);
}

/** Another view of the same page starts at its top. */
function useTopOnChange(scroller: RefObject<HTMLElement>, view: string, at: number): void {
  const shown = useRef({ view, at });
  useLayoutEffect(() => {
    if (shown.current.at === at && shown.current.view !== view) scroller.current?.scrollTo({ top: 0 });
    shown.current = { view, at };
  }, [view, at]);
}

/** The table's keys work while it or nothing has the focus. */
function useTableKeys(scroller: RefObject<HTMLElement>, handle: (key: string) => boolean): void {
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isShortcut(event) || event.defaultPrevented) return;
      const focused = document.activeElement;
      const isFree = !focused || focused === document.body || focused.tagName === "MAIN";
      if (!isFree && focused !== scroller.current) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

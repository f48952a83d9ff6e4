// The order of a table whose rows are all there: which of its columns the address sorts by.
import { useMemo } from "preact/hooks";
import { inOrder, orderParam, readOrder, turned, type Order, type Value } from "../model/order";
import { route, setParams } from "../state/router";

interface Sortable<Row> {
  key: string;
  number?: boolean;
  /** What is sorted by, if anything. */
  value?(row: Row): Value;
}

interface Ordering<Row> {
  order: Order;
  /** Of the column that is sorted by; undefined: rows stay as they come. */
  valueOf: ((row: Row) => Value) | undefined;
  onSort(key: string): void;
}

/** `usual`: the order when the address says nothing. */
export function useOrder<Row>(columns: readonly Sortable<Row>[], usual: Order): Ordering<Row> {
  const sortable = columns.filter(({ value }) => value);
  const keys = sortable.map(({ key }) => key);
  const order = readOrder(route.value.params.get("sort"), keys, usual);
  const columnOf = (wanted: string) => sortable.find(({ key }) => key === wanted);
  return {
    order,
    valueOf: columnOf(order.key)?.value,
    onSort(key) {
      const next = turned(order, key, columnOf(key)?.number ?? false);
      setParams({ sort: orderParam(next, usual) });
    },
  };
}

export function useSorted<Row>(rows: readonly Row[], columns: readonly Sortable<Row>[], usual: Order) {
  const { order, valueOf, onSort } = useOrder(columns, usual);
  const { descending } = order;
  const sorted = useMemo(() => inOrder(rows, valueOf, descending), [rows, valueOf, descending]);
  return { rows: sorted, order, onSort };
}

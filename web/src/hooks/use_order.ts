// The order of a table that has all of its rows: the column in the address sorts them.
import { useMemo } from "preact/hooks";
import { inOrder, orderParam, readOrder, turned, type Order, type Value } from "../model/order";
import { route, setParams } from "../state/router";

interface Sortable<Row> {
  key: string;
  number?: boolean;
  /** The value to sort by, if there is one. */
  value?(row: Row): Value;
}

interface Ordering<Row> {
  order: Order;
  /** The value function of the sorted column; undefined: the rows keep their order. */
  valueOf: ((row: Row) => Value) | undefined;
  onSort(key: string): void;
}

/** `usual`: the order if the address says nothing. */
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

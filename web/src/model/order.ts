// The order of a table's rows: a column and a direction, as the address has it: `sort=loss` or `sort=-loss`.

export interface Order<Key extends string = string> {
  key: Key;
  descending: boolean;
}

export const formatOrder = ({ key, descending }: Order) => `${descending ? "-" : ""}${key}`;

export function readOrder<Key extends string>(
  text: string | null,
  keys: readonly Key[],
  usual: Order<Key>,
): Order<Key> {
  if (text === null) return usual;
  const key = keys.find((each) => each === text.replace(/^-/, ""));
  return key === undefined ? usual : { key, descending: text.startsWith("-") };
}

/** A second press on a column reverses the order; `descends` says how the first press sorts. */
export const turned = <Key extends string>(current: Order, key: Key, descends: boolean): Order<Key> => ({
  key,
  descending: current.key === key ? !current.descending : descends,
});

/** Null if it is the usual order, which the address leaves out. */
export function orderParam(order: Order, usual: Order): string | null {
  const text = formatOrder(order);
  return text === formatOrder(usual) ? null : text;
}

/** Null: the row has no value and comes last in either direction. */
export type Value = number | string | null;

export function compareValues(a: Value, b: Value, descending: boolean): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b === descending ? 1 : -1;
}

export function inOrder<Row>(
  rows: readonly Row[],
  valueOf: ((row: Row) => Value) | undefined,
  descending: boolean,
): readonly Row[] {
  return valueOf ? [...rows].sort((a, b) => compareValues(valueOf(a), valueOf(b), descending)) : rows;
}

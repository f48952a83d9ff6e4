// In what order a table shows its rows: a column and a direction, which the address has as `sort=loss` or `sort=-loss`.

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

/** A column that is pressed again turns round; `descends`: how it is sorted first. */
export const turned = <Key extends string>(current: Order, key: Key, descends: boolean): Order<Key> => ({
  key,
  descending: current.key === key ? !current.descending : descends,
});

/** Null where it is the usual one, of which the address says nothing. */
export function orderParam(order: Order, usual: Order): string | null {
  const text = formatOrder(order);
  return text === formatOrder(usual) ? null : text;
}

/** Null: the row has none, and comes last in either direction. */
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

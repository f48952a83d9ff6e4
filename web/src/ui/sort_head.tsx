// Heads of a plain table that sort it, and the same choice as a list where rows are cards, which have no heads.
import type { Order } from "../model/order";

export interface SortColumn {
  key: string;
  title: string;
  hint?: string;
  number?: boolean;
}

interface Properties {
  column: SortColumn;
  order: Order;
  onSort(key: string): void;
}

export function SortHead({ column: { key, title, hint, number }, order, onSort }: Properties) {
  const sorted = order.key === key ? (order.descending ? "descending" : "ascending") : "none";
  return (
    <th scope="col" class={number ? "number" : undefined} aria-sort={sorted} title={hint}>
      <button type="button" class="head-sort" onClick={() => onSort(key)}>
        {title}
        <span aria-hidden="true">{sorted === "none" ? "" : sorted === "descending" ? " ↓" : " ↑"}</span>
      </button>
      <span class="head-name">{title}</span>
    </th>
  );
}

interface ListProperties extends Omit<Properties, "column"> {
  columns: readonly SortColumn[];
}

export function SortList({ columns, order, onSort }: ListProperties) {
  return (
    <span class="sort-list">
      <label>
        Sorted by{" "}
        <select value={order.key} onChange={({ currentTarget: { value } }) => onSort(value)}>
          {columns.map(({ key, title }) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="button button-small"
        aria-label={`Sorted ${order.descending ? "down" : "up"}; reverse it`}
        onClick={() => onSort(order.key)}
      >
        {order.descending ? "↓" : "↑"}
      </button>
    </span>
  );
}

// One row of a table (data_table.tsx). A click opens the same page as the row's link. A placeholder stands for a row that is
// not loaded.
import { navigate } from "../state/router";
import type { Column } from "./data_table";

export interface RowBox {
  top: number;
  height: number;
}

interface Properties<Row> {
  id: string;
  row: Row;
  columns: readonly Column<Row>[];
  index: number;
  box: RowBox;
  /** The keyboard is on this row. */
  current: boolean;
  /** For rows that can be selected. */
  selected: boolean | undefined;
  href: string;
  onChoose(): void;
}

const styleOf = ({ top, height }: RowBox) => ({
  transform: `translateY(${top}px)`,
  height: `${height}px`,
});

export function DataRow<Row>(properties: Properties<Row>) {
  const { id, row, columns, index, box, current, selected, href, onChoose } = properties;
  return (
    <div
      id={id}
      class={current ? "data-row is-current" : "data-row"}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      style={styleOf(box)}
      onClick={(event) => {
        if (isSelectingText() || (event.target as HTMLElement).closest("input")) return;
        onChoose();
        open(event, href);
      }}
    >
      {columns.map((column) => (
        <span key={column.key} role="gridcell" class={classOf(column)} data-title={titleOf(column)}>
          {column.cell(row)}
        </span>
      ))}
    </div>
  );
}

const classOf = ({ key, number, wraps }: Pick<Column<never>, "key" | "number" | "wraps">) =>
  `c-${key}${number ? " number" : ""}${wraps ? " wraps" : ""}`;

/** For styles that show rows as cards without a head. */
const titleOf = ({ title }: Pick<Column<never>, "title">) => (typeof title === "string" ? title : undefined);

const isSelectingText = () => getSelection()?.isCollapsed === false;

/** A link within the row follows its own address. With a modifier the row opens in another tab, and this page stays. */
function open(event: MouseEvent, href: string): void {
  if ((event.target as HTMLElement).closest("a, button")) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey) window.open(href, "_blank", "noopener");
  else navigate(href);
}

interface ShapeProperties {
  columns: readonly { key: string; number?: boolean }[];
  box: RowBox;
  current: boolean;
}

export function RowShape({ columns, box, current }: ShapeProperties) {
  return (
    <div class={current ? "data-shape is-current" : "data-shape"} aria-hidden="true" style={styleOf(box)}>
      {columns.map(({ key, number }) => (
        <span key={key} class={number ? "number" : ""} />
      ))}
    </div>
  );
}

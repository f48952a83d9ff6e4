// A plain table that is scrolled sideways where it is wider than its place, which the keyboard reaches as well.
import type { ComponentChildren } from "preact";

interface Properties {
  /** What is heard of it. */
  name: string;
  /** Classes of the table; `cards` where it becomes cards in a narrow window. */
  looks: string;
  /** A class of what it is scrolled in. */
  frame?: string;
  children: ComponentChildren;
}

export function ScrollTable({ name, looks, frame = "", children }: Properties) {
  return (
    <div class={`scroll-x ${frame}`} tabIndex={0} role="region" aria-label={name}>
      <table class={`table ${looks}`}>{children}</table>
    </div>
  );
}

/** The title of a column of figures. */
export function NumberHead({ title, children }: { title?: string; children: ComponentChildren }) {
  return (
    <th scope="col" class="number" title={title}>
      {children}
    </th>
  );
}

/** The title of a column of bars, which is heard alone. */
export const BarHead = () => (
  <th scope="col">
    <span class="visually-hidden">As a bar</span>
  </th>
);

// A plain table that scrolls sideways if it is wider than its place. The keyboard can scroll it too.
import type { ComponentChildren } from "preact";

interface Properties {
  /** Its accessible name. */
  name: string;
  /** Classes of the table; with `cards` its rows become cards in a narrow window. */
  looks: string;
  /** A class of the scrolling element. */
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

/** The head of a column of numbers. */
export function NumberHead({ title, children }: { title?: string; children: ComponentChildren }) {
  return (
    <th scope="col" class="number" title={title}>
      {children}
    </th>
  );
}

/** The head of a column of bars, for screen readers alone. */
export const BarHead = () => (
  <th scope="col">
    <span class="visually-hidden">As a bar</span>
  </th>
);

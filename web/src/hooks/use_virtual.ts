// TanStack's virtualiser for Preact: it renders only the visible rows of a list of equally high rows.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

/** `head` is the height of what stays at the top of the scroller. Rows must not hide behind it. */
export function useVirtual(scroller: RefObject<HTMLElement>, count: number, rowHeight: number, head: number) {
  const [, rerender] = useReducer((turn: number, _: void) => turn + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollPaddingEnd: head,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => rerender(),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, Element>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => virtualizer.measure(), [rowHeight]);
  return virtualizer;
}

// Keeps the scroll position of an element with the entry of the browser's history, and restores it when the reader comes
// back: as soon as there is enough content, unless the reader has begun to scroll.
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { recall, remember } from "../state/places";

const patienceMs = 5000;

/** `shown` changes when another place is shown. The element starts at the top of a new place, or at the kept position. */
export function useScrollPlace(name: string, element: RefObject<HTMLElement>, shown: unknown): void {
  useLayoutEffect(() => {
    const scroller = element.current;
    if (!scroller) return undefined;
    const wanted = recall<number>(name) ?? 0;
    let stop = restore(scroller, wanted, () => (stop = null)) as (() => void) | null;
    const onScroll = () => {
      if (!stop) remember(name, scroller.scrollTop);
    };
    const takeOver = () => stop?.();
    const hands = ["wheel", "touchmove", "pointerdown", "keydown"];
    scroller.addEventListener("scroll", onScroll, { passive: true });
    for (const each of hands) addEventListener(each, takeOver, { passive: true });
    return () => {
      stop?.();
      scroller.removeEventListener("scroll", onScroll);
      for (const each of hands) removeEventListener(each, takeOver);
    };
  }, [name, shown]);
}

/** Tries again whenever the content grows; null if it succeeds at once. */
function restore(scroller: HTMLElement, top: number, done: () => void): (() => void) | null {
  const isThere = () => {
    scroller.scrollTop = top;
    return Math.abs(scroller.scrollTop - top) < 2;
  };
  if (isThere()) return null;
  const finish = () => {
    observer.disconnect();
    clearTimeout(timer);
    done();
  };
  const observer = new ResizeObserver(() => isThere() && finish());
  for (const child of scroller.children) observer.observe(child);
  const timer = setTimeout(finish, patienceMs);
  return finish;
}

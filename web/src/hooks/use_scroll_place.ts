// Keeps how far an element is scrolled with the entry of the history, and finds it again when the reader comes back to it: as
// soon as there is enough content, unless they have begun to scroll by themselves.
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { recall, remember } from "../state/places";

const patienceMs = 5000;

/** `shown` changes when another place is shown; the element starts at its top there, or where it was. */
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

/** Tries again whenever the content grows; null when it is done at once. */
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

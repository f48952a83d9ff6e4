// The width of an element, also as it changes.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export function useWidth(element: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(() => innerWidth);
  useLayoutEffect(() => {
    const measured = element.current!;
    const update = () => setWidth(measured.clientWidth);
    const observer = new ResizeObserver(update);
    observer.observe(measured);
    update();
    return () => observer.disconnect();
  }, []);
  return width;
}

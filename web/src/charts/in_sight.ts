// Whether an element is in or near the visible part of the page. What is far away is not drawn.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** The scrolling part of the frame is the root, because a margin extends only the edges of the root. */
const margin = "300px";

export function useInSight(element: RefObject<HTMLElement>): boolean {
  const [inSight, setInSight] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => setInSight(entries.some(({ isIntersecting }) => isIntersecting)),
      { root: element.current!.closest("main"), rootMargin: margin },
    );
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return inSight;
}

// Whether an element is in sight or nearly: what is not costs nothing.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Of the frame's part that scrolls: a margin counts at its edges only where it is the root. */
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

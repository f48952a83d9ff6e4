// Counts up at an interval while the page is visible; null stops it.
import { useEffect, useState } from "preact/hooks";

export function useInterval(ms: number | null): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (ms === null) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) setTurn((old) => old + 1);
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
  return turn;
}

// A number that changes when what the scheduler looks at may have changed, at most every two seconds. It also changes at
// intervals, because ages and usage grow by themselves.
import { useEffect, useRef, useState } from "preact/hooks";
import { cluster } from "../state/store";
import { useInterval } from "./use_interval";

const pauseMs = 2000;
const refreshMs = 15_000;

export function useScheduling(): number {
  const turn = useInterval(refreshMs);
  const latest = cluster.scheduling.value + turn;
  const [shown, setShown] = useState(latest);
  const shownAt = useRef(-Infinity);
  useEffect(() => {
    const wait = Math.max(0, shownAt.current + pauseMs - performance.now());
    const timer = setTimeout(() => {
      shownAt.current = performance.now();
      setShown(latest);
    }, wait);
    return () => clearTimeout(timer);
  }, [latest]);
  return shown;
}

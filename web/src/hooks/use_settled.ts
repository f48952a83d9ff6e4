// A value once it has not changed for a while, so that typing does not cause a request for each letter.
import { useEffect, useState } from "preact/hooks";

export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

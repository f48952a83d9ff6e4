// A value as it is once it has not changed for a while: so that what is typed is not asked for letter by letter.
import { useEffect, useState } from "preact/hooks";

export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

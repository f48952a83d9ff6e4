// What the browser's tab says: the page's own words, or the route's title where a page has none.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export const ownTitle = signal<string | null>(null);

export function useTitle(title: string | null): void {
  useEffect(() => {
    ownTitle.value = title;
  }, [title]);
  useEffect(
    () => () => {
      ownTitle.value = null;
    },
    [],
  );
}

// The title of the browser's tab: the page's own, or that of the route if the page has none.
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

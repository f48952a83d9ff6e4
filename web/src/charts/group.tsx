// Charts that belong together: they share the range of x that is shown and the crosshair.
import { signal } from "@preact/signals";
import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo } from "preact/hooks";
import { isShortcut } from "../state/keyboard";
import { Button } from "../ui/button";
import type { Range } from "./line";

interface Zoom extends Range {
  /** What x was when the range was chosen: steps are no seconds. */
  axis: string;
}

export class ChartGroupState {
  private readonly zoom = signal<Zoom | null>(null);
  /** Of the crosshair. */
  readonly key = `charts-${(made += 1)}`;

  range(axis: string): Range | null {
    const zoom = this.zoom.value;
    return zoom?.axis === axis ? zoom : null;
  }

  show(axis: string, min: number, max: number): void {
    if (max > min) this.zoom.value = { axis, min, max };
  }

  reset(): void {
    this.zoom.value = null;
  }
}

let made = 0;

const Context = createContext<ChartGroupState | null>(null);

/** `0` shows all again, as a double click on any of the charts does. */
export function ChartGroup({ children }: { children: ComponentChildren }) {
  const group = useMemo(() => new ChartGroupState(), []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "0" && isShortcut(event)) group.reset();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [group]);
  return <Context.Provider value={group}>{children}</Context.Provider>;
}

export function useChartGroup(): ChartGroupState {
  const group = useContext(Context);
  if (!group) throw new Error("a chart stands outside of a ChartGroup");
  return group;
}

/** One button for all charts of the group; `axis` as the charts have it. */
export function ResetZoom({ axis }: { axis: string }) {
  const group = useChartGroup();
  if (!group.range(axis)) return null;
  return (
    <Button small title="Show all (0)" onPress={() => group.reset()}>
      Reset zoom
    </Button>
  );
}

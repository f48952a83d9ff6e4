// Charts that belong together: they share the shown range of x and the crosshair.
import { signal } from "@preact/signals";
import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo } from "preact/hooks";
import { isShortcut } from "../state/keyboard";
import { Button } from "../ui/button";
import type { Range } from "./line";

interface Zoom extends Range {
  /** The axis for which the range was chosen: a range in steps means nothing in seconds. */
  axis: string;
}

export class ChartGroupState {
  private readonly zoom = signal<Zoom | null>(null);
  /** The key by which uPlot shares the crosshair. */
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

/** `0` shows the whole range again, as a double click on any of the charts does. */
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

/** One button for all charts of the group; `axis` is the name of their x axis. */
export function ResetZoom({ axis }: { axis: string }) {
  const group = useChartGroup();
  if (!group.range(axis)) return null;
  return (
    <Button small title="Show all (0)" onPress={() => group.reset()}>
      Reset zoom
    </Button>
  );
}

// A part of a page in a file of its own, which is loaded when the part is first shown.
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Notice } from "./notice";

export function lazy<Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
  waiting: ComponentChildren,
): ComponentType<Properties> {
  let loaded: ComponentType<Properties> | null = null;
  return function Lazy(properties: Properties) {
    const [, setTurn] = useState(0);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (part) => {
          loaded = part;
          setTurn(1);
        },
        () => setFailed(true),
      );
    }, []);
    if (failed) return <Notice kind="failed" title="A part of this page could not be loaded; reload it" />;
    const Part = loaded;
    return Part ? <Part {...properties} /> : <>{waiting}</>;
  };
}

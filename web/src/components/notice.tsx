// What a page shows instead of its content: empty, loading or failed, always with what to do next.
import type { ComponentChildren } from "preact";

interface Properties {
  kind: "empty" | "loading" | "failed";
  title: string;
  children?: ComponentChildren;
}

export function Notice({ kind, title, children }: Properties) {
  return (
    <div class={`notice notice-${kind}`} role={kind === "failed" ? "alert" : "status"}>
      <p class="notice-title">{title}</p>
      {children && <div class="notice-text">{children}</div>}
    </div>
  );
}

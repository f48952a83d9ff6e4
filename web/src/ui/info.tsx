// An explanation behind an "i": a press opens it, and Escape or leaving it closes it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Properties {
  /** What it explains, as in "goodput". */
  of: string;
  children: ComponentChildren;
}

export function Info({ of, children }: Properties) {
  const [open, setOpen] = useState(false);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    setOpen(false);
  };
  return (
    <span class="info" onKeyDown={onKeyDown} onFocusOut={() => setOpen(false)}>
      <button
        type="button"
        class="info-button"
        aria-label={`About ${of}`}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        i
      </button>
      {open && (
        <span class="info-text" role="status">
          {children}
        </span>
      )}
    </span>
  );
}

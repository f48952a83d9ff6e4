// How a figure is told: behind an "i" that opens by a press and closes by Escape or when the focus goes elsewhere.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Properties {
  /** Of the figure, as in "goodput". */
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
        aria-label={`How ${of} is told`}
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

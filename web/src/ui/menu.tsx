// A button that opens a short list: things to do, or pages to go to. It closes by Escape, by a choice, and when the focus or a
// press goes elsewhere.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Properties {
  /** What is on the button. */
  face: ComponentChildren;
  /** Its name where the face says too little. */
  name?: string;
  className: string;
  /** Items of a list: each holds a button or a link. */
  children: ComponentChildren;
}

export function Menu({ face, name, className, children }: Properties) {
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // Before the list is painted, so that no press or key is missed.
  useLayoutEffect(() => {
    if (!open) return undefined;
    const onElsewhere = ({ target }: Event) => {
      if (!whole.current!.contains(target as Node)) setOpen(false);
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      setOpen(false);
      button.current!.focus();
    };
    const events = ["pointerdown", "focusin"];
    for (const each of events) document.addEventListener(each, onElsewhere);
    addEventListener("keydown", onKeyDown);
    return () => {
      for (const each of events) document.removeEventListener(each, onElsewhere);
      removeEventListener("keydown", onKeyDown);
    };
  }, [open]);
  return (
    <span ref={whole} class="menu">
      <button
        ref={button}
        type="button"
        class={className}
        aria-label={name}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {face}
      </button>
      {open && (
        <ul class="menu-list" onClick={() => setOpen(false)}>
          {children}
        </ul>
      )}
    </span>
  );
}

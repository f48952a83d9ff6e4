// A button that opens a short list of actions or pages. Escape, a choice, or a focus or press elsewhere closes it.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Properties {
  /** The content of the button. */
  face: ComponentChildren;
  /** Its accessible name, if the content says too little. */
  name?: string;
  className: string;
  /** List items, each with a button or a link. */
  children: ComponentChildren;
}

export function Menu({ face, name, className, children }: Properties) {
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // It listens before the list is painted, so that no press or key is missed.
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

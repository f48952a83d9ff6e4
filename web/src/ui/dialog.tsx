// A modal dialog on the browser's own <dialog>, which traps focus, closes on Escape and returns focus.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Properties {
  title: string;
  /** While it is busy, Escape and a click beside it do not close it: nothing would show the outcome. */
  busy?: boolean;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, busy = false, onClose, children }: Properties) {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  const pressedBeside = useRef(false);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => {
      gone.current = true;
      element?.close(); // gives the focus back, also when the page takes the dialog away
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={() => {
        if (!gone.current) onClose();
      }}
      onCancel={(event) => {
        if (busy) event.preventDefault();
      }}
      onPointerDown={(event) => {
        pressedBeside.current = event.target === event.currentTarget;
      }}
      onClick={(event) => {
        // A press that began within the dialog and ends beside it selected text.
        const isBeside = event.target === event.currentTarget && pressedBeside.current;
        if (isBeside && !busy) event.currentTarget.close();
      }}
    >
      <div class="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

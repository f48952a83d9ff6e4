// A modal dialog on the browser's own <dialog>: it traps focus, closes on Escape and gives focus back.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Properties {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Properties) {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
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
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <div class="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

// A button with words on it. Small ones stand in rows and in heads.
import type { ComponentChildren } from "preact";

interface Properties {
  small?: boolean | undefined;
  kind?: "primary" | "danger" | undefined;
  /** Its name where the words on it say too little without what stands around them. */
  name?: string;
  title?: string;
  disabled?: boolean;
  autofocus?: boolean | undefined;
  submit?: boolean;
  onPress?(): void;
  children: ComponentChildren;
}

export function Button(properties: Properties) {
  const { small, kind, name, title, disabled, autofocus, submit, onPress, children } = properties;
  return (
    <button
      type={submit ? "submit" : "button"}
      class={["button", small && "button-small", kind && `button-${kind}`].filter(Boolean).join(" ")}
      aria-label={name}
      title={title}
      disabled={disabled}
      autofocus={autofocus}
      onClick={onPress}
    >
      {children}
    </button>
  );
}

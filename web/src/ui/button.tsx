// A button with a text. Small ones are for rows and heads.
import type { ComponentChildren } from "preact";

interface Properties {
  small?: boolean | undefined;
  kind?: "primary" | "danger" | undefined;
  /** Its accessible name, if the text says too little without its surroundings. */
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

// The text filter of a list. "/" anywhere on the page focuses it. Escape clears it, then leaves it.
import { useRef } from "preact/hooks";
import { setParams } from "../state/router";
import { CloseIcon, SearchIcon } from "./icons";

interface Properties {
  value: string;
  label: string;
  placeholder: string;
}

export function FilterBox({ value, label, placeholder }: Properties) {
  const input = useRef<HTMLInputElement>(null);
  const clear = () => {
    setParams({ q: null });
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    if (value) setParams({ q: null });
    else input.current?.blur();
  };
  return (
    <div class="filter-box">
      <SearchIcon />
      <input
        ref={input}
        type="text"
        data-filter
        aria-label={label}
        placeholder={placeholder}
        value={value}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setParams({ q: event.currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      {value ? (
        <button type="button" class="icon-button" aria-label="Clear the filter" onClick={clear}>
          <CloseIcon />
        </button>
      ) : (
        <kbd>/</kbd>
      )}
    </div>
  );
}

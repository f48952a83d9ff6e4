// A choice from a list that opens, in a line with its title.
interface Properties {
  title: string;
  /** What is heard of it; the title, where that says enough. */
  label?: string;
  value: string;
  /** Each with what is shown of it. */
  options: readonly (readonly [value: string, text: string])[];
  onChange(value: string): void;
}

export function SelectLine({ title, label, value, options, onChange }: Properties) {
  return (
    <label class="choice-line">
      {title}{" "}
      <select
        class="line-field"
        aria-label={label ?? title}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A choice of what its title says. */
export const alike = (values: readonly string[]) => values.map((value) => [value, value] as const);

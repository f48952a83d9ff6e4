// A drop-down choice in a line with its title.
interface Properties {
  title: string;
  /** Its accessible name, if the title says too little. */
  label?: string;
  value: string;
  /** The options with their texts. */
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

/** Options whose texts are their values. */
export const alike = (values: readonly string[]) => values.map((value) => [value, value] as const);

// A few options side by side, one of which is chosen.
interface Properties<Value extends string> {
  label: string;
  value: Value;
  options: [value: Value, title: string][];
  onChange(value: Value): void;
}

export function Choice<Value extends string>({ label, value, options, onChange }: Properties<Value>) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map(([each, title]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
          {title}
        </button>
      ))}
    </div>
  );
}

// JSON as YAML, for reading. Strings are quoted whenever YAML could take them for something else.

const plain = /^[A-Za-z_/.*][\w/.*+-]*( [\w/.*+-]+)*$/;
const reserved = /^(true|false|yes|no|on|off|null|~|\.nan|\.inf)$/i;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  return plain.test(value) && !reserved.test(value) ? value : JSON.stringify(value);
}

const isEmpty = (value: object) => Object.keys(value).length === 0;
const isScalar = (value: unknown) => typeof value !== "object" || value === null;

export function toYaml(value: unknown, indent = ""): string {
  if (isScalar(value)) return `${indent}${scalar(value)}\n`;
  // An item's first line moves up beside its dash.
  if (Array.isArray(value)) {
    return value.map((item) => `${indent}- ${toYaml(item, `${indent}  `).slice(indent.length + 2)}`).join("");
  }
  return Object.entries(value as object)
    .map(([key, item]) => `${indent}${scalar(key)}:${below(item, indent)}`)
    .join("");
}

function below(value: unknown, indent: string): string {
  if (isScalar(value)) return ` ${scalar(value)}\n`;
  if (Array.isArray(value)) {
    if (value.every(isScalar)) return ` [${value.map(scalar).join(", ")}]\n`;
  } else if (isEmpty(value as object)) {
    return " {}\n";
  }
  return `\n${toYaml(value, `${indent}  `)}`;
}

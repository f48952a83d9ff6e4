// Checks answers against schemas/openapi.yaml: every answer of the fake coordinator, and those of the real one in
// contract.test.ts.
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";

interface Operation {
  responses: Record<string, { $ref?: string; content?: Record<string, unknown> }>;
}

const document = parse(readFileSync(new URL("../../../schemas/openapi.yaml", import.meta.url), "utf8")) as {
  paths: Record<string, Record<string, Operation>>;
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(document, "openapi");
const validators = new Map<string, ValidateFunction>();

const escape = (part: string) => encodeURIComponent(part.replace(/~/g, "~0").replace(/\//g, "~1"));

function mistakesIn(body: unknown, place: readonly string[]): string[] {
  const pointer = `openapi#/${place.map(escape).join("/")}`;
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: pointer });
  validators.set(pointer, validate);
  validate(body);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** `/jobs/12/events` matches `/jobs/{job}/events`. */
function templateOf(path: string): string | undefined {
  const parts = path.split("/");
  return Object.keys(document.paths).find((template) => {
    const wanted = template.split("/");
    return (
      wanted.length === parts.length && wanted.every((part, at) => part.startsWith("{") || part === parts[at])
    );
  });
}

export interface Answered {
  method: string;
  /** The path without the prefix and the query. */
  path: string;
  status: number;
  type: string;
  /** The parsed body, if it is JSON. */
  body: unknown;
}

/** What is wrong with an answer; empty if it is as the document says. */
export function breachesOf({ method, path, status, type, body }: Answered): string[] {
  const template = templateOf(path);
  const operation = template === undefined ? undefined : document.paths[template]![method.toLowerCase()];
  const name = `${method} ${path} ${status}`;
  if (operation === undefined)
    return status >= 400 ? problemBreaches(name, body) : [`${name}: no such operation`];
  if (operation.responses[String(status)] === undefined)
    return status >= 400 ? problemBreaches(name, body) : [`${name}: no such status`];
  const media = type.split(";")[0]!;
  const content = operation.responses[String(status)]!.content;
  if (!content?.[media]) return [`${name}: no ${media}`];
  if (media !== "application/json") return [];
  const place = [
    "paths",
    template!,
    method.toLowerCase(),
    "responses",
    String(status),
    "content",
    media,
    "schema",
  ];
  return mistakesIn(body, place).map((mistake) => `${name}: ${mistake}`);
}

const schemaOf: Record<string, string> = { job: "Job", node: "Node", metrics: "MetricsMessage" };

export const messageBreaches = (event: string, data: unknown): string[] =>
  schemaOf[event] === undefined
    ? []
    : mistakesIn(data, ["components", "schemas", schemaOf[event]]).map(
        (mistake) => `event ${event}: ${mistake}`,
      );

const problemBreaches = (name: string, body: unknown): string[] =>
  mistakesIn(body, ["components", "schemas", "Problem"]).map((mistake) => `${name}: ${mistake}`);

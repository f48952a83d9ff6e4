// The types on the wire are those of schemas/openapi.yaml.
import { readFileSync } from "node:fs";
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

it("src/api/schema.ts is what `npm run generate` writes", async () => {
  const written = await openapiTS(read("../../schemas/openapi.yaml"), { defaultNonNullable: false });
  expect(
    read("../src/api/schema.ts") === COMMENT_HEADER + astToString(written),
    "run `npm --prefix web run generate`",
  ).toBe(true);
});

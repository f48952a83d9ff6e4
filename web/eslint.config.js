// Finds what the compiler does not: hooks out of order, promises that nobody awaits, values of unknown type, a second clock.
// `npm run lint` also checks the browser tests, so it starts at the root of the repository.
import hooks from "eslint-plugin-react-hooks";
import { config, parser, plugin } from "typescript-eslint";

export default config(
  { ignores: ["**/dist", "web/src/api/schema.ts"] },
  {
    files: ["web/{src,test}/**/*.{ts,tsx}", "tests/e2e/**/*.ts"],
    languageOptions: { parser, parserOptions: { projectService: true } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    plugins: { "@typescript-eslint": plugin },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unsafe-argument": "error",
      "@typescript-eslint/no-unsafe-assignment": "error",
      "@typescript-eslint/no-unsafe-call": "error",
      "@typescript-eslint/no-unsafe-member-access": "error",
      "@typescript-eslint/no-unsafe-return": "error",
      "@typescript-eslint/no-unnecessary-type-assertion": "error",
      "@typescript-eslint/no-unused-expressions": "error",
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/restrict-plus-operands": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: ["web/src/**/*.{ts,tsx}"],
    plugins: { "react-hooks": hooks },
    rules: { "react-hooks/rules-of-hooks": "error" },
  },
  {
    files: ["web/src/**/*.{ts,tsx}"],
    ignores: ["web/src/format/**", "web/src/api/server_clock.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        {
          object: "Date",
          property: "now",
          message:
            "Times are the coordinator's: serverNow() (api/server_clock.ts). Durations: performance.now().",
        },
        ...["toLocaleString", "toLocaleDateString", "toLocaleTimeString"].map((property) => ({
          property,
          message: "src/format writes numbers and times.",
        })),
        ...["NumberFormat", "DateTimeFormat"].map((property) => ({
          object: "Intl",
          property,
          message: "src/format writes numbers and times.",
        })),
      ],
    },
  },
);

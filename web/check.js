// The compiler and ESLint over the dashboard and its tests, which both read as one program: who asks second for a type gets the
// answer of the first. Ends with 1 where either has something to say. `npm run lint` is what editors do, file by file.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";
import ts from "typescript";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => tell([problem]) };

/** True where there is nothing. */
function tell(problems) {
  process.stdout.write(
    ts.formatDiagnostics(problems, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => "\n",
    }),
  );
  return problems.length === 0;
}

function compile() {
  const read = ts.getParsedCommandLineOfConfigFile(`${root}/tests/e2e/tsconfig.json`, {}, host);
  const program = ts.createProgram({ rootNames: read.fileNames, options: read.options });
  return { program, isRight: tell([...read.errors, ...ts.getPreEmitDiagnostics(program)]) };
}

async function lint(program) {
  const eslint = new ESLint({
    cwd: root,
    overrideConfigFile: `${root}/web/eslint.config.js`,
    overrideConfig: { languageOptions: { parserOptions: { projectService: false, programs: [program] } } },
  });
  const results = await eslint.lintFiles(["web", "tests/e2e"]);
  const formatter = await eslint.loadFormatter("stylish");
  process.stdout.write(await formatter.format(results));
  return results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
}

const { program, isRight } = compile();
const isClean = await lint(program);
process.exitCode = isRight && isClean ? 0 : 1;

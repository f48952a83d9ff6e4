// Runs the compiler and ESLint over the dashboard and its tests as one program, so that every type is computed once. Exits with 1
// if either reports anything. `npm run lint` checks file by file, as editors do.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";
import ts from "typescript";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => tell([problem]) };

/** Prints the problems; true if there are none. */
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

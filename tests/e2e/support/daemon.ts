// Podium's programs as the build left them, in PODIUM_BIN_DIR.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { join } from "node:path";

const programs = process.env["PODIUM_BIN_DIR"] ?? "";

export type Daemon = ChildProcess;

/** "" if the daemons can run, else why not. Throws if they are missing where they must be present. */
export function whyNotReal(): string {
  if (!programs) return "PODIUM_BIN_DIR is not set";
  const missing = ["podium-coordinator", "podium-agent", "podium-worker"].find(
    (name) => !existsSync(join(programs, name)),
  );
  if (missing) throw new Error(`${missing} is not in ${programs}: build it`);
  return "";
}

/** Its output goes behind what the file `log` holds. */
export function start(program: string, log: string, options: string[]): Daemon {
  const output = openSync(log, "a");
  return spawn(join(programs, program), options, { stdio: ["ignore", output, output] });
}

export async function end(daemon: Daemon, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = new Promise((resolve) => daemon.once("exit", resolve));
  daemon.kill(signal);
  await ended;
}

export async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`waited a minute for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { leanLockfile } from "../../../scripts/lib/lean-lockfile.mjs";

const SCRIPTS = fileURLToPath(new URL("../../fixtures/scripts/", import.meta.url));

/**
 * Bundles `test/fixtures/scripts/<name>.ts` into one file before the first test of a file, and removes it
 * after the last: the supported Node versions cannot run TypeScript. Call it at the top of a test file.
 * @param through the words of a program that starts it, as `env` would
 * @returns a function that starts the script with these arguments
 */
export function script(
  name: string,
  through: readonly string[] = [],
): (...args: readonly string[]) => Script {
  const file = scriptFile(name);
  return (...args) => start([...through, process.execPath, file(), ...args]);
}

/** Like {@link script}, for a test that starts the script itself. @returns a function that returns the file's path */
export function scriptFile(name: string): () => string {
  let directory = "";
  const file = (): string => join(directory, `${basename(name)}.mjs`);
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "tt-scripts-"));
    const input = join(SCRIPTS, `${name}.ts`);
    // A script that imports proper-lockfile itself plays a foreign writer, and needs the whole package.
    const isForeign = readFileSync(input, "utf8").includes('from "proper-lockfile"');
    await build({
      input,
      platform: "node",
      // As in the build of the product: the CommonJS form of jsonc-parser hides its requires.
      resolve: { mainFields: ["module", "main"] },
      // The whole package would listen to signals, such as SIGXFSZ, and end the process with them.
      plugins: isForeign ? [] : [leanLockfile()],
      logLevel: "silent",
      output: { file: file(), format: "es", codeSplitting: false },
    });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return file;
}

/** A process started by a test, which reports line by line. */
export interface Script {
  readonly child: ChildProcess;
  /** Reads the next line of standard output. @throws Error if the process has ended */
  line(): Promise<string>;
  say(line: string): void;
  /** Resolves with the exit code or signal and the text of standard error. */
  ended(): Promise<{ readonly code: number | null; readonly signal: string | null; readonly stderr: string }>;
}

/** Starts a process that is killed after the test. */
function start(words: readonly string[]): Script {
  const [program = "", ...args] = words;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  // If a write fails because the process has ended, `line` or `ended` shows the end.
  child.stdin.on("error", () => undefined);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, stderr }));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    line: async () => {
      const next = await lines.next();
      if (next.done) throw new Error(`${words.join(" ")} ended: ${JSON.stringify(await ended)}`);
      return next.value;
    },
    say: (line) => child.stdin.write(`${line}\n`),
    ended: () => ended,
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll, onTestFinished } from "vitest";

const SCRIPTS = fileURLToPath(new URL("../../fixtures/scripts/", import.meta.url));

/**
 * `test/fixtures/scripts/<name>.ts`, with all that it imports, made into one file that Node runs (these Nodes run no
 * TypeScript) before the first test of a file and gone after the last. To be called at the top of a test file.
 * @param through the words of a program that starts it, as `env` would
 * @returns starts it with these arguments
 */
export function script(
  name: string,
  through: readonly string[] = [],
): (...args: readonly string[]) => Script {
  const file = scriptFile(name);
  return (...args) => start([...through, process.execPath, file(), ...args]);
}

/** The same, for a test whose own code starts it. @returns where the file is */
export function scriptFile(name: string): () => string {
  let directory = "";
  const file = (): string => join(directory, `${basename(name)}.mjs`);
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "tt-scripts-"));
    await build({
      input: join(SCRIPTS, `${name}.ts`),
      platform: "node",
      // As the product is built: jsonc-parser's other form hides its requires.
      resolve: { mainFields: ["module", "main"] },
      logLevel: "silent",
      output: { file: file(), format: "es", codeSplitting: false },
    });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return file;
}

/** A process that a test started, which says what it does line by line. */
export interface Script {
  readonly child: ChildProcess;
  /** The next line of its standard output; throws when it ended before. */
  line(): Promise<string>;
  say(line: string): void;
  /** Its exit code, or the signal that ended it, and what it wrote to standard error. */
  ended(): Promise<{ readonly code: number | null; readonly signal: string | null; readonly stderr: string }>;
}

/** It is gone when the test is over. */
function start(words: readonly string[]): Script {
  const [program = "", ...args] = words;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  // Whoever speaks to one that has ended learns it from `line` or `ended`.
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

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/** A program of scripts/bench/programs in a separate process, with a line-based protocol. */
export interface Program {
  readonly pid: number;
  /** Reads its next line. @throws Error if the program has ended */
  line(): Promise<string>;
  say(line: string): void;
  end(): Promise<void>;
}

/** Running children, which end with this process. */
const running = new Set<ChildProcess>();

export function startProgram(name: string, ...args: readonly string[]): Program {
  const child = started([programFile(name), ...args], { stdio: ["pipe", "pipe", "inherit"] });
  if (child.stdout === null) throw new Error("The program has no standard output.");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    line: async () => {
      const next = await lines.next();
      if (next.done)
        throw new Error(`The bench program ${name} ended: ${child.exitCode ?? child.signalCode}`);
      return next.value;
    },
    say: (line) => void child.stdin?.write(`${line}\n`),
    end: async () => {
      if (!running.has(child)) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/**
 * Starts a program once for each list of arguments, lets all begin at the same moment, and waits for one line
 * of each.
 * @returns the lines, and the milliseconds until the last line
 */
export async function race(
  name: string,
  all: readonly (readonly string[])[],
): Promise<{ readonly ms: number; readonly lines: readonly string[] }> {
  const programs = all.map((args) => startProgram(name, ...args));
  for (const program of programs) await program.line();
  const begin = performance.now();
  for (const program of programs) program.say("go");
  const lines = await Promise.all(programs.map((program) => program.line()));
  const ms = performance.now() - begin;
  for (const program of programs) await program.end();
  return { ms, lines };
}

/** Returns the bundled file of a program of scripts/bench/programs. */
export function programFile(name: string): string {
  return join(dirname(process.argv[1] ?? ""), `${name}.mjs`);
}

/**
 * Returns the milliseconds from the start of a Node process to its end. @throws Error if its exit code is not
 * 0
 */
export async function timeOfNode(args: readonly string[], options: SpawnOptions = {}): Promise<number> {
  const begin = performance.now();
  const child = started(args, { ...options, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}.`);
  return performance.now() - begin;
}

/** Starts a Node process that ends with this one at the latest. */
export function started(args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(process.execPath, args, options);
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

import { type ChildProcess, spawn } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { shellQuote } from "../../text/shell-quote.ts";
import type { Env } from "../env.ts";
import { isExecutable } from "../files/access.ts";
import { ifReadable } from "../files/if-readable.ts";
import { INSTANCE_VARIABLE } from "../process/process-tree.ts";
import { bubblewrapArgs, type InnerProgram } from "./bubblewrap.ts";
import type { SandboxView } from "./view.ts";

/** The input from which a sandbox is made. */
interface Making {
  /** The words that start `bwrap`. */
  readonly maker: readonly [string, ...string[]];
  readonly view: SandboxView;
}

/** A sandbox in which nothing runs yet but a shell that reads its one command from stdin, and ends with stdin. */
interface Prewarmed {
  readonly child: ChildProcess;
  /** The description of its input. */
  readonly state: string;
}

const WAITER: InnerProgram = { cwd: "/", words: ["/bin/sh"] };

/** Clears the environment, which no shell can do. */
const ENV_PROGRAM = "/usr/bin/env";

/** Length in bytes above which a command is left to the system, which may refuse it and says so better than a shell. */
const MAX_SCRIPT = 65_536;

/**
 * Sets up the sandbox of an agent's next command before that command is there: the namespaces and mounts take longer than most
 * commands. Each command still gets its own sandbox. A sandbox is used only for the same input: the same view, and the
 * same files at its places, because a mount stays with the file that it was made for.
 */
export class Prewarmer {
  readonly #env: Env;
  #waiting: Prewarmed | undefined;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Sets up a sandbox, unless one like this waits already. It keeps no process alive, and ends with this one. */
  prepare(making: Making): void {
    const state = stateOf(making);
    if (this.#waiting?.state === state) return;
    this.end();
    if (!isExecutable(ENV_PROGRAM)) return;
    const [file, ...args] = [...making.maker, ...bubblewrapArgs(making.view, WAITER)] as [
      string,
      ...string[],
    ];
    const child = spawn(file, args, {
      // The end of an agent that was killed finds its processes by the marker.
      env: { PATH: this.#env.PATH, [INSTANCE_VARIABLE]: this.#env[INSTANCE_VARIABLE] },
      cwd: "/",
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const prewarmed = { child, state };
    const forget = (): void => {
      if (this.#waiting === prewarmed) this.#waiting = undefined;
    };
    // Without it, the next command sets up its own sandbox, and gets the error if that fails too.
    child.once("exit", forget).once("error", forget);
    child.stdin.on("error", forget);
    child.unref();
    for (const stream of streamsOf(child)) stream.unref();
    this.#waiting = prewarmed;
  }

  /** Starts a program in the waiting sandbox. @returns undefined if none waits, or it was made of something else */
  take(making: Making, program: InnerProgram): ChildProcess | undefined {
    const prewarmed = this.#waiting;
    const script = scriptOf(program);
    if (prewarmed === undefined || script === undefined) return undefined;
    if (prewarmed.state !== stateOf(making)) return undefined;
    this.#waiting = undefined;
    const { child } = prewarmed;
    child.ref();
    for (const stream of streamsOf(child)) stream.ref();
    child.stdin?.end(script);
    return child;
  }

  /** Ends the waiting sandbox: its shell ends with its stdin. A bwrap that is killed while it starts leaves a process for ever. */
  end(): void {
    this.#waiting?.child.stdin?.destroy();
    this.#waiting = undefined;
  }
}

interface Refable {
  ref(): void;
  unref(): void;
}

/** Pipes of a child process are sockets, which the types do not say. */
function streamsOf({ stdin, stdout, stderr }: ChildProcess): Refable[] {
  return [stdin, stdout, stderr].filter((stream) => stream !== null) as (Readable | Writable)[] as never;
}

/**
 * Describes the input of a sandbox, with the identity of the files at its places as they are now. A later mount would appear in
 * it, writable; so the mounts of this machine count too.
 */
function stateOf({ maker, view }: Making): string {
  const identities = view.places.map(({ path, source, isDirectory }) =>
    identityOf(source ?? path, isDirectory),
  );
  const mounts = ifReadable(() => readFileSync("/proc/self/mountinfo", "latin1"));
  return JSON.stringify([maker, bubblewrapArgs(view, WAITER), identities, mounts]);
}

/** Inode numbers are reused. The change time shows another link to a file, but also each change in a directory. */
function identityOf(path: string, isDirectory: boolean): string {
  const found = ifReadable(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  if (found === undefined) return "";
  const { dev, ino, birthtimeNs, ctimeNs } = found;
  return [dev, ino, birthtimeNs, ...(isDirectory ? [] : [ctimeNs])].join(" ");
}

/**
 * Returns the command that turns the waiting shell into a program: its words are quoted, so the shell changes none. Pure.
 * @returns undefined if the program cannot be written so
 */
export function scriptOf({ cwd, env = {}, words }: InnerProgram): string | undefined {
  const [program = ""] = words;
  const pairs = Object.entries({ ...env, PWD: cwd }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const all = [cwd, ...pairs, ...words];
  // `env` would read such a program as a variable or an option, and refuses a variable without a name.
  if (/^-|=/.test(program) || pairs.some((pair) => pair.startsWith("="))) return undefined;
  if (all.some((word) => word.includes("\0"))) return undefined;
  const script = [
    `cd -- ${shellQuote(cwd)} || exit`,
    `exec ${ENV_PROGRAM} -i -- ${[...pairs, ...words].map(shellQuote).join(" ")} </dev/null`,
    "",
  ].join("\n");
  return Buffer.byteLength(script) > MAX_SCRIPT ? undefined : script;
}

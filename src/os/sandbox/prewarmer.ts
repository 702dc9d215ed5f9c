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

/** The input that a sandbox is created from. */
interface SandboxInput {
  /** The words that start `bwrap`, which creates the sandbox. */
  readonly maker: readonly [string, ...string[]];
  readonly view: SandboxView;
}

/** A sandbox that runs only a shell, which reads one command from stdin and exits when stdin closes. */
interface Prewarmed {
  readonly child: ChildProcess;
  /** The fingerprint of its input. */
  readonly fingerprint: string;
}

const WAITING_SHELL: InnerProgram = { cwd: "/", words: ["/bin/sh"] };

/** Clears the environment, which no shell can do. */
const ENV_PROGRAM = "/usr/bin/env";

/** Maximum bytes of a script. A longer command is started directly: the system's error is clearer than a shell's. */
const MAX_SCRIPT = 65_536;

/**
 * Sets up the sandbox of an agent's next command before the command arrives: the namespaces and mounts take longer than most
 * commands. Each command still gets its own sandbox. A sandbox is used only for the same input: the same view, and the
 * same files at its places, because a mount stays with the file that it was created for.
 */
export class Prewarmer {
  readonly #env: Env;
  #waiting: Prewarmed | undefined;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Sets up a sandbox, unless one for the same input is waiting. It does not keep this process alive, and ends with it. */
  prepare(input: SandboxInput): void {
    const fingerprint = fingerprintOf(input);
    if (this.#waiting?.fingerprint === fingerprint) return;
    this.end();
    if (!isExecutable(ENV_PROGRAM)) return;
    const [file, ...args] = [...input.maker, ...bubblewrapArgs(input.view, WAITING_SHELL)] as [
      string,
      ...string[],
    ];
    const child = spawn(file, args, {
      // If the agent is killed, its processes are found by this marker.
      env: { PATH: this.#env.PATH, [INSTANCE_VARIABLE]: this.#env[INSTANCE_VARIABLE] },
      cwd: "/",
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const prewarmed = { child, fingerprint };
    const forget = (): void => {
      if (this.#waiting === prewarmed) this.#waiting = undefined;
    };
    // Without a waiting sandbox, the next command sets up its own, and gets the error if that fails too.
    child.once("exit", forget).once("error", forget);
    child.stdin.on("error", forget);
    child.unref();
    for (const stream of streamsOf(child)) stream.unref();
    this.#waiting = prewarmed;
  }

  /**
   * Starts a program in the waiting sandbox.
   * @returns undefined if no sandbox is waiting, its input differs, or the program cannot be written as a script
   */
  take(input: SandboxInput, program: InnerProgram): ChildProcess | undefined {
    const prewarmed = this.#waiting;
    const script = scriptOf(program);
    if (prewarmed === undefined || script === undefined) return undefined;
    if (prewarmed.fingerprint !== fingerprintOf(input)) return undefined;
    this.#waiting = undefined;
    const { child } = prewarmed;
    child.ref();
    for (const stream of streamsOf(child)) stream.ref();
    child.stdin?.end(script);
    return child;
  }

  /** Ends the waiting sandbox by closing its stdin: a bwrap that is killed while it starts leaves a process for ever. */
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
 * Returns a text that changes with the input of a sandbox and with the files at its places. It includes the mounts of this machine:
 * a later mount would appear in the sandbox, writable.
 */
function fingerprintOf({ maker, view }: SandboxInput): string {
  const identities = view.places.map(({ path, source, isDirectory }) =>
    identityOf(source ?? path, isDirectory),
  );
  const mounts = ifReadable(() => readFileSync("/proc/self/mountinfo", "latin1"));
  return JSON.stringify([maker, bubblewrapArgs(view, WAITING_SHELL), identities, mounts]);
}

/** Includes times, as inode numbers are reused. The change time also shows a new link to a file, but each change in a directory. */
function identityOf(path: string, isDirectory: boolean): string {
  const found = ifReadable(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  if (found === undefined) return "";
  const { dev, ino, birthtimeNs, ctimeNs } = found;
  return [dev, ino, birthtimeNs, ...(isDirectory ? [] : [ctimeNs])].join(" ");
}

/**
 * Returns the command that turns the waiting shell into a program: its words are quoted, so the shell changes none. Pure.
 * @returns undefined if no such command can express the program
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

import { randomUUID } from "node:crypto";
import type { Env } from "../os/env.ts";
import { type ProgramResult, run as runProgram } from "../os/process/run.ts";
import { startSentinel, type WaitingProgram } from "../os/process/spawn.ts";
import { type BatchLine, escapeArguments, script, scriptFor, type TmuxCommand } from "./command.ts";
import {
  errorKindOf,
  otherServer,
  programMissing,
  refusal,
  TmuxError,
  type TmuxErrorKind,
  type TmuxFailure,
  timedOut,
} from "./error.ts";
import { parseVersion, type TmuxVersion } from "./version.ts";

/** Which server: by the name of its socket (`-L`), by its path (`-S`), or the user's default one. */
export type TmuxSocket = { readonly name: string } | { readonly path: string } | undefined;

/** A tmux call that takes longer than this hangs: a healthy one takes two milliseconds. */
const CALL_TIMEOUT_MS = 15_000;

interface TmuxServerOptions {
  readonly socket?: TmuxSocket;
  /** The environment of the clients, and of a server that one of them starts, which hands it on to every later pane. */
  readonly env: Env;
  /** Configuration file instead of the user's, for a server that this driver starts. */
  readonly configFile?: string;
  /** Milliseconds until a call that got no answer is given up. */
  readonly timeoutMs?: number;
  readonly run?: typeof runProgram;
}

interface BatchOptions {
  /** Whether a missing server is started. */
  readonly start?: boolean;
  /**
   * The process of the server that is meant, as a look has told it: the ids of that look mean something there alone. At any
   * other nothing is done, and the server that was meant is a lost one.
   */
  readonly serverPid?: number | undefined;
}

interface BatchResult {
  /** What the commands printed, in order. */
  readonly lines: readonly string[];
  /** The same as it came, with the empty lines. */
  readonly text: string;
  /** One line for each command that failed; the others were done. */
  readonly errors: readonly string[];
}

/**
 * A driver of one tmux server: argument vectors in, text out, one forked client for each call. It holds no
 * connection and no state; no client is ever attached.
 */
export interface TmuxServer {
  readonly socket: TmuxSocket;
  /** The words that address this server, for a command that a person is to type. */
  readonly socketArgs: readonly string[];
  /** Runs one command. @throws TmuxError of every kind */
  call(command: TmuxCommand): Promise<string>;
  /**
   * Runs many commands in one forked call; they travel on stdin, so that neither their length nor what they hold
   * shows in `ps`. A failing line does not stop those behind it.
   * @throws TmuxError when no server could be reached or went away meanwhile, gave no answer, or read no command of it; what
   * single commands were refused for is in the answer
   */
  batch(lines: readonly BatchLine[], options?: BatchOptions): Promise<BatchResult>;
  /** Starts a client that ends when a channel is signalled, or the server ends; nobody waits for its answer here. */
  wait(channel: string): WaitingProgram;
  /** The version of the program, which may be newer than the running server. */
  version(): Promise<TmuxVersion>;
}

/** One forked client. */
interface Invocation {
  /** The words of the command as tmux is to be given them. */
  readonly words?: readonly string[];
  readonly input?: string;
  readonly batch?: TmuxFailure["batch"];
}

export function tmuxServer(options: TmuxServerOptions): TmuxServer {
  const { socket, run = runProgram, timeoutMs = CALL_TIMEOUT_MS } = options;
  const socketArgs = socketArguments(socket);
  // Where the caller itself is decides nothing: the server is named, and so is every target.
  const { TMUX: _server, TMUX_PANE: _pane, ...env } = options.env;
  const config = options.configFile === undefined ? [] : ["-f", options.configFile];

  // -u: names and screens are UTF-8 whatever the caller's locale says.
  const invoke = async (
    command: TmuxCommand,
    { words = command, input, batch }: Invocation = {},
  ): Promise<ProgramResult> => {
    const result = await run("tmux", ["-u", ...config, ...socketArgs, ...words], {
      env,
      timeoutMs,
      ...(input === undefined ? {} : { input }),
    });
    if (result.failure === "not-found") throw programMissing();
    if (result.failure === "timed-out") {
      throw timedOut(command, timeoutMs, batch && { ...batch, printed: linesOf(result.stdout) });
    }
    return result;
  };

  return {
    socket,
    socketArgs,
    async call(command) {
      const result = await invoke(command, { words: escapeArguments(command) });
      if (result.code !== 0) throw refusal(command, result.stderr);
      return result.stdout;
    },
    async batch(lines, { start = false, serverPid } = {}) {
      const verb = start ? ["start-server", ";", "source-file", "-"] : ["source-file", "-"];
      const commands = lines.flatMap((line) => ("chain" in line ? line.chain : [line]));
      const sent = { commands: commands.map(([name = ""]) => name), printed: [] };
      // Made up for this call, so that nothing that a command prints is taken for it.
      const other = `other-server-${randomUUID()}`;
      const input =
        serverPid === undefined
          ? script(lines)
          : scriptFor(serverPid, lines, ["display-message", "-p", other]);
      const result = await invoke(verb, { input, batch: sent });
      const answer = { lines: linesOf(result.stdout), text: result.stdout, errors: linesOf(result.stderr) };
      const unread = result.code === 0 ? undefined : syntaxErrorOf(answer);
      if (unread !== undefined) throw refusal(verb, unread, sent);
      if (answer.lines[0] === other) throw otherServer(verb);
      const isAnswered = answer.errors.length > 0 && !answer.errors.map(errorKindOf).some(isServerMissing);
      if (result.code === 0 || isAnswered) return answer;
      throw refusal(verb, result.stderr, { ...sent, printed: answer.lines });
    },
    wait(channel) {
      return startSentinel("tmux", ["-u", ...socketArgs, "wait-for", channel], env);
    },
    async version() {
      return parseVersion((await invoke(["-V"])).stdout);
    },
  };
}

/**
 * Whether an error says that no server is there, or none any more, which for many callers is an answer: what they meant to
 * close or to look at went with it.
 */
export function isNoServer(error: unknown): boolean {
  return error instanceof TmuxError && isServerMissing(error.kind);
}

/** Whether an error says that what was named is not there, or its whole server is not. */
export function isGone(error: unknown): boolean {
  return isNoServer(error) || (error instanceof TmuxError && error.kind === "no-target");
}

/** The words that address a server. */
export function socketArguments(socket: TmuxSocket): string[] {
  if (socket === undefined) return [];
  return "path" in socket ? ["-S", socket.path] : ["-L", socket.name];
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/**
 * A line that is no tmux command stops a batch before its first one, and is told of alone and by its number: on stdout, or
 * on stderr, as the version has it.
 */
function syntaxErrorOf({ lines, errors }: BatchResult): string | undefined {
  const [only = "", ...others] = [...lines, ...errors];
  return others.length === 0 && /^-:\d+: /.test(only) ? only : undefined;
}

function isServerMissing(kind: TmuxErrorKind): boolean {
  return kind === "no-server" || kind === "lost-server";
}

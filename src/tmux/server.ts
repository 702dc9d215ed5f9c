import { randomUUID } from "node:crypto";
import type { Env } from "../os/env.ts";
import type { RecordedProcess } from "../os/process/identity.ts";
import { type ProgramResult, run as runProgram } from "../os/process/run.ts";
import { startSentinel, type WaitingProgram } from "../os/process/spawn.ts";
import { type BatchLine, escapeArguments, script, scriptFor, type TmuxCommand } from "./command.ts";
import {
  otherServer,
  programMissing,
  refusal,
  TmuxError,
  type TmuxErrorKind,
  type TmuxFailure,
  timedOut,
} from "./error.ts";
import { hookAdvice, hooksAfter } from "./hooks.ts";
import { parseVersion, type TmuxVersion } from "./version.ts";

/** The address of a server: the name of its socket (`-L`), its path (`-S`), or undefined for the user's default server. */
export type TmuxSocket = { readonly name: string } | { readonly path: string } | undefined;

/** Milliseconds after which a call counts as hung; a normal call takes two. */
const CALL_TIMEOUT_MS = 15_000;
/** Milliseconds to find the hooks that a call may have waited for. */
const HOOKS_TIMEOUT_MS = 2_000;

interface TmuxServerOptions {
  readonly socket?: TmuxSocket;
  /** The process of the server, if it is known: a call that finds no server fails with `unreachable` while this process runs. */
  readonly process?: RecordedProcess | undefined;
  /** The environment of the clients, and of a server that one of them starts, which passes it on to every later pane. */
  readonly env: Env;
  /** Configuration file to use instead of the user's, for a server that this driver starts. */
  readonly configFile?: string;
  /** Milliseconds until an unanswered call fails. */
  readonly timeoutMs?: number;
  readonly run?: typeof runProgram;
}

export interface BatchOptions {
  /** Start the server if it does not run. */
  readonly start?: boolean;
  /**
   * The process of the intended server, from `listPanes`; the ids of its panes are valid only there. On another server nothing
   * is done, and the call fails with `lost-server`.
   */
  readonly serverPid?: number | undefined;
}

interface BatchResult {
  /** The non-empty lines that the commands printed, in order. */
  readonly lines: readonly string[];
  /** The complete output, with empty lines. */
  readonly text: string;
  /**
   * One line for each failed command; the other commands ran. A user's failing hook adds lines too, so callers tell from what the
   * commands print which ones ran.
   */
  readonly errors: readonly string[];
}

/**
 * The driver of one tmux server: argument vectors in, text out, one forked client for each call. It keeps no connection and no
 * state, and never attaches a client. Each call prints a final mark, which proves that the commands ran to the end: the exit status
 * can be that of the user's hooks.
 */
export interface TmuxServer {
  readonly socket: TmuxSocket;
  /** The arguments that select this server, for a command that the user can type. */
  readonly socketArgs: readonly string[];
  /** Runs one command. @throws TmuxError of every kind */
  call(command: TmuxCommand): Promise<string>;
  /**
   * Runs many commands in one forked call. They are sent on stdin, so that their length is not limited and `ps` does not show
   * them. A failing line does not stop the lines after it.
   * @throws TmuxError if the server is missing, ends during the call, does not answer, or cannot parse the batch; errors of single
   * commands are part of the result instead
   */
  batch(lines: readonly BatchLine[], options?: BatchOptions): Promise<BatchResult>;
  /** Starts a client that ends when the channel is signalled or the server ends. */
  wait(channel: string): WaitingProgram;
  /** Returns the version of the program, which may be newer than the running server. */
  version(): Promise<TmuxVersion>;
}

/** One forked client. */
interface Invocation {
  /** The arguments for tmux; the command itself by default. */
  readonly words?: readonly string[];
  readonly input?: string;
  readonly batch?: TmuxFailure["batch"];
}

export function tmuxServer(options: TmuxServerOptions): TmuxServer {
  const { socket, run = runProgram, timeoutMs = CALL_TIMEOUT_MS } = options;
  const socketArgs = socketArguments(socket);
  // Ignore the caller's own position: the server and every target are explicit.
  const { TMUX: _server, TMUX_PANE: _pane, ...env } = options.env;
  const config = options.configFile === undefined ? [] : ["-f", options.configFile];

  // -u: names and screens are UTF-8 in any locale.
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
    if (result.failure === "not-started") throw refusal(command, result.stderr, batch);
    if (result.failure === "timed-out") {
      const advice = hookAdvice(await hooksOf(input ?? words.join(" ")));
      throw timedOut(command, timeoutMs, advice, batch && { ...batch, printed: linesOf(result.stdout) });
    }
    return result;
  };

  /** Returns the hooks that a call may still wait for; none if the server does not answer. */
  const hooksOf = async (sent: string): Promise<string[]> => {
    const shown = await run("tmux", ["-u", ...socketArgs, "show-hooks", "-g"], {
      env,
      timeoutMs: Math.min(timeoutMs, HOOKS_TIMEOUT_MS),
    });
    return hooksAfter(sent, shown.stdout);
  };

  /** Returns the failure of a call; a server whose process keeps running has not ended, even if its client reports that. */
  const failureOf = async (...refused: Parameters<typeof refusal>): Promise<TmuxError> => {
    const error = refusal(...refused);
    if (options.process === undefined || !isNoServer(error) || error.printed.length > 0) return error;
    const { keepsRunning, unreachable } = await import("./unreachable.ts");
    if (!(await keepsRunning(options.process))) return error;
    return unreachable(options.process, socket !== undefined && "path" in socket ? socket.path : undefined);
  };

  return {
    socket,
    socketArgs,
    async call(command) {
      const end = endMark();
      const result = await invoke(command, { words: [...escapeArguments(command), ";", ...printing(end)] });
      const printed = textBefore(result.stdout, end);
      if (printed === undefined && result.code !== 0) throw await failureOf(command, result.stderr);
      return printed ?? result.stdout;
    },
    async batch(lines, { start = false, serverPid } = {}) {
      const verb = start ? ["start-server", ";", "source-file", "-"] : ["source-file", "-"];
      const commands = lines.flatMap((line) => ("chain" in line ? line.chain : [line]));
      const sent = { commands: commands.map(([name = ""]) => name), printed: [] };
      const [end, other] = [endMark(), `other-server-${randomUUID()}`];
      const checked = serverPid === undefined ? script(lines) : scriptFor(serverPid, lines, printing(other));
      const result = await invoke(verb, { input: checked + script([printing(end)]), batch: sent });
      const text = textBefore(result.stdout, end);
      const answer = {
        lines: linesOf(text ?? result.stdout),
        text: text ?? result.stdout,
        errors: linesOf(result.stderr),
      };
      if (answer.lines.includes(other)) throw otherServer(verb);
      if (text !== undefined) return answer;
      const unread = syntaxErrorOf(answer);
      if (unread !== undefined) throw await failureOf(verb, unread, sent);
      // A batch that ends without its mark and without an error has lost its server.
      throw await failureOf(verb, result.stderr.trim() || "lost server", {
        ...sent,
        printed: answer.lines,
      });
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
 * True if an error means that the server is missing or has ended. For many callers this is not a failure: the panes that they
 * wanted to close or read are gone with it.
 */
export function isNoServer(error: unknown): boolean {
  return error instanceof TmuxError && isServerMissing(error.kind);
}

/** True if an error means that the server runs, but no client reaches it: its panes exist. */
export function isUnreachable(error: unknown): error is TmuxError {
  return error instanceof TmuxError && error.kind === "unreachable";
}

/** True if an error means that the target or its whole server is gone. */
export function isGone(error: unknown): boolean {
  return isNoServer(error) || (error instanceof TmuxError && error.kind === "no-target");
}

/** Returns the arguments that select a server. */
export function socketArguments(socket: TmuxSocket): string[] {
  if (socket === undefined) return [];
  return "path" in socket ? ["-S", socket.path] : ["-L", socket.name];
}

/** Random, so that the output of a command cannot imitate it. */
function endMark(): string {
  return `end-${randomUUID()}`;
}

function printing(text: string): TmuxCommand {
  return ["display-message", "-p", text];
}

/** Returns the output before a mark; undefined without the mark. Hooks can print more after it. */
function textBefore(output: string, mark: string): string | undefined {
  const at = output.indexOf(`${mark}\n`);
  return at < 0 ? undefined : output.slice(0, at);
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/**
 * Returns the error line of a batch that tmux could not parse. In that case no command runs, and the only output is one line with a
 * line number, on stdout or stderr depending on the version.
 */
function syntaxErrorOf({ lines, errors }: BatchResult): string | undefined {
  const [only = "", ...others] = [...lines, ...errors];
  return others.length === 0 && /^-:\d+: /.test(only) ? only : undefined;
}

function isServerMissing(kind: TmuxErrorKind): boolean {
  return kind === "no-server" || kind === "lost-server";
}

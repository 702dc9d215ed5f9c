import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { type Finished, run as runProgram } from "../os/run.ts";
import { type Command, script } from "./quote.ts";
import { parseVersion, type TmuxVersion } from "./version.ts";

/** Which server: by the name of its socket (`-L`), by its path (`-S`), or the user's default one. */
export type TmuxSocket = { readonly name: string } | { readonly path: string } | undefined;

/** A tmux call that takes longer than this hangs: a healthy one takes two milliseconds. */
const CALL_TIMEOUT_MS = 15_000;

export interface TmuxServerOptions {
  readonly socket?: TmuxSocket;
  /** The caller's environment; what belongs to one agent alone is taken out of it before tmux sees it. */
  readonly env: Env;
  /** Configuration file instead of the user's, for a server that this driver starts. */
  readonly configFile?: string;
  readonly run?: typeof runProgram;
}

export interface BatchResult {
  /** What the commands printed, in order. */
  readonly lines: readonly string[];
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
  /** Runs one command. @throws TeamError TMUX_ERROR, TMUX_NOT_FOUND */
  call(command: Command): Promise<string>;
  /**
   * Runs many commands in one forked call; they travel on stdin, so that neither their length nor what they hold
   * shows in `ps`. A failing command does not stop those behind it.
   * @param options.start whether a missing server is started
   * @throws TeamError TMUX_NOT_FOUND; TMUX_ERROR when no server could be reached at all
   */
  batch(commands: readonly Command[], options?: { readonly start?: boolean }): Promise<BatchResult>;
  /** The version of the program, which may be newer than the running server. */
  version(): Promise<TmuxVersion>;
}

/** Variables of one agent: a server that a marked process starts would hand them to every later pane of the user. */
const NEVER_INHERITED =
  /^(TMUX|TMUX_PANE|TEAMS_INSTANCE|TEAMS_AGENT|TEAMS_BELL_FD|CLAUDECODE|CLAUDE_CODE_.*)$/;

export function tmuxServer(options: TmuxServerOptions): TmuxServer {
  const { socket, run = runProgram } = options;
  const socketArgs = argsOf(socket);
  const env = inheritable(options.env);
  const config = options.configFile === undefined ? [] : ["-f", options.configFile];

  // -u: names and screens are UTF-8 whatever the caller's locale says.
  const invoke = async (command: Command, input?: string): Promise<Finished> => {
    const result = await run("tmux", ["-u", ...config, ...socketArgs, ...command], {
      env,
      timeoutMs: CALL_TIMEOUT_MS,
      ...(input === undefined ? {} : { input }),
    });
    if (result.failure === "not-found") throw notFound();
    if (result.failure === "timed-out") {
      throw new TeamError("TMUX_ERROR", `tmux did not answer ${command[0] ?? ""} within 15 seconds.`, {
        hint: "The server may hang; look at it with `tmux ls`.",
        details: { kind: "timed-out", command },
      });
    }
    return result;
  };

  return {
    socket,
    socketArgs,
    async call(command) {
      const result = await invoke(command);
      if (result.code !== 0) throw failed(command, result.stderr);
      return result.stdout;
    },
    async batch(commands, { start = false } = {}) {
      const verb = start ? ["start-server", ";", "source-file", "-"] : ["source-file", "-"];
      const result = await invoke(verb, script(commands));
      const errors = linesOf(result.stderr);
      if (result.code !== 0 && (errors.some(isNoServerText) || errors.length === 0))
        throw failed(verb, result.stderr);
      return { lines: linesOf(result.stdout), errors };
    },
    async version() {
      return parseVersion((await invoke(["-V"])).stdout);
    },
  };
}

/**
 * The server that a caller means: inside tmux the one it is in, else `-L $TEAMS_TMUX_SOCKET`, else the user's default.
 */
export function chooseServer(env: Env): TmuxSocket {
  const path = socketOfTmux(env.TMUX);
  if (path !== undefined) return { path };
  return env.TEAMS_TMUX_SOCKET ? { name: env.TEAMS_TMUX_SOCKET } : undefined;
}

/** `$TMUX` is `<socket>,<pid>,<session>`; the path itself may hold commas. */
function socketOfTmux(value: string | undefined): string | undefined {
  return /^(.+),\d+,\d+$/.exec(value ?? "")?.[1];
}

/** Whether an error says that no server is there, which for many callers is an answer. */
export function isNoServer(error: unknown): boolean {
  return error instanceof TeamError && error.details?.kind === "no-server";
}

/** The environment without what belongs to one agent or pane. */
export function inheritable(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NEVER_INHERITED.test(name)));
}

/** The words that address a server. */
export function argsOf(socket: TmuxSocket): string[] {
  if (socket === undefined) return [];
  return "path" in socket ? ["-S", socket.path] : ["-L", socket.name];
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function isNoServerText(text: string): boolean {
  return /no server running|error connecting to|server exited|lost server|no sessions$/.test(text);
}

function notFound(): TeamError {
  return new TeamError("TMUX_NOT_FOUND", "tmux is not installed, or not on the PATH; nothing was started.", {
    hint: "Install tmux 3.2 or newer (apt install tmux, brew install tmux), or use --teammate-mode in-process.",
  });
}

function failed(command: Command, stderr: string): TeamError {
  const text = stderr.trim();
  const kind = text.split("\n").some(isNoServerText) ? "no-server" : "refused";
  return new TeamError("TMUX_ERROR", `tmux ${command[0] ?? ""} failed: ${text || "it gave no reason"}.`, {
    hint:
      kind === "no-server" ? "No tmux server runs there." : "The command and its answer are in the details.",
    details: { kind, command, stderr: text },
  });
}

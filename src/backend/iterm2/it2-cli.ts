import * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import { type ProgramResult, run } from "../../os/process/run.ts";
import { parseWithMessages } from "../../schema/zod-helpers.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { INSTALL_IT2 } from "../choose-backend.ts";

/** Controls iTerm2 through its command line `it2` (PyPI: it2). Each call starts Python and takes a few tenths of a second. */
export interface It2 {
  /** The version of `it2`; does not contact iTerm2. */
  version(): Promise<string>;
  /** The session with the keyboard focus; undefined if iTerm2 has no open window. */
  focused(): Promise<string | undefined>;
  /** Opens a window that runs one command instead of a shell. @param words program and arguments; see {@link commandOf} */
  openWindow(words: readonly string[]): Promise<void>;
  /** The ids of all sessions. */
  sessions(): Promise<ReadonlySet<string>>;
  /** The last lines of a session's screen; undefined if there is no such session. */
  read(session: string, lines: number): Promise<readonly string[] | undefined>;
  /** Gives a session the focus. @returns whether the session exists */
  focus(session: string): Promise<boolean>;
  /** Closes a session, if it exists. */
  close(session: string): Promise<void>;
}

interface It2Options {
  readonly env: Env;
  readonly run?: typeof run;
}

/** Time limit in milliseconds for one call: during the first call, iTerm2 asks the user whether programs may control it. */
const CALL_MS = 30_000;
/** Maximum bytes of output: a screen has a few thousand cells, a list of sessions a few hundred bytes for each session. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Exit codes of it2. A call that it2 does not know also exits with 2. */
const [UNREACHABLE, NOT_THERE] = [2, 3];

/** The name of a session: it2 prints the bare id, the terminal's variables prefix it with `w0t0p0:`. */
const SESSION = /^(?:w\d+t\d+p\d+[:.])?([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$/;

const sessionList = z.array(z.looseObject({ id: z.string() }));

const NO_API =
  "In iTerm2, switch on Settings > General > Magic > Enable Python API, and allow the access that it asks for. Or omit --teammate-mode.";

/** True if the environment is that of an iTerm2 session. */
export function isIterm2(env: Env): boolean {
  return env.TERM_PROGRAM === "iTerm.app" || sessionIdOf(env.ITERM_SESSION_ID) !== undefined;
}

/** Returns the id in a session's name; undefined for any other text. */
export function sessionIdOf(name: string | undefined): string | undefined {
  return SESSION.exec(name ?? "")?.[1]?.toUpperCase();
}

/**
 * Joins words to one line for iTerm2's own word splitting. iTerm2 uses no shell, but a backslash also escapes inside quotes, `\(` begins
 * an expression, and `$$` a prompt to the user.
 * @throws TeamError INVALID_INPUT for a word that iTerm2 would change
 */
export function commandOf(words: readonly string[]): string {
  const changed = words.find((word) => word === "" || /["\\\p{Cc}]|\$\$/u.test(word));
  if (changed === undefined)
    return words.map((word) => (/^[\w/.%:@+-]+$/.test(word) ? word : `"${word}"`)).join(" ");
  throw new TeamError(
    "INVALID_INPUT",
    `iTerm2 would change the word ${JSON.stringify(changed)} of the command; nothing was started.`,
    {
      hint: "Set XDG_RUNTIME_DIR to a directory without quotes, backslashes or $ in its path.",
    },
  );
}

export function it2Driver(options: It2Options): It2 {
  const { env } = options;
  const execute = options.run ?? run;

  const call = async (args: readonly string[]): Promise<ProgramResult> => {
    if (findProgram("it2", env) === undefined) throw notInstalled();
    return execute("it2", args, { env, timeoutMs: CALL_MS, maxBytes: MAX_BYTES });
  };
  const output = async (args: readonly string[]): Promise<string> => {
    const finished = await call(args);
    if (finished.code !== 0) throw callFailed(args, finished);
    return finished.stdout;
  };
  /** Returns the output; undefined if the session does not exist. */
  const outputIfFound = async (args: readonly string[]): Promise<string | undefined> => {
    const finished = await call(args);
    if (finished.code === NOT_THERE && /not found/i.test(finished.stderr)) return undefined;
    if (finished.code !== 0) throw callFailed(args, finished);
    return finished.stdout;
  };

  return {
    async version() {
      const text = await output(["--version"]);
      const version = /^it2, version (\d[\w.+-]{0,30})\s*$/.exec(text)?.[1];
      if (version === undefined) throw unexpectedOutput(["--version"], text);
      return version;
    },
    async focused() {
      const text = await output(["app", "get-focus"]);
      return sessionIdOf(/^Current session: (\S+)$/m.exec(text)?.[1]);
    },
    async openWindow(words) {
      const args = ["window", "new", "--command", commandOf(words)];
      const text = await output(args);
      if (!/^Created new window: \S/m.test(text)) throw unexpectedOutput(args, text);
    },
    async sessions() {
      const args = ["session", "list", "--json"];
      const text = await output(args);
      return new Set(parseSessions(args, text).flatMap(({ id }) => sessionIdOf(id) ?? []));
    },
    async read(session, lines) {
      // Read the whole screen: its empty rows below the last line count as lines, too.
      const text = await outputIfFound(["session", "read", "--session", session]);
      if (text === undefined) return undefined;
      const shown = text.trimEnd();
      return shown === "" ? [] : shown.split("\n").slice(-lines);
    },
    async focus(session) {
      return (await outputIfFound(["session", "focus", session])) !== undefined;
    },
    async close(session) {
      await outputIfFound(["session", "close", "--session", session, "--force"]);
    },
  };
}

function parseSessions(args: readonly string[], text: string): z.infer<typeof sessionList> {
  try {
    const parsed = parseWithMessages(sessionList, JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch (cause) {
    throw unexpectedOutput(args, text, cause);
  }
  throw unexpectedOutput(args, text);
}

function notInstalled(): TeamError {
  return new TeamError("CLI_NOT_FOUND", "iTerm2's command line it2 is not on the PATH.", {
    hint: INSTALL_IT2,
  });
}

function callFailed(args: readonly string[], finished: ProgramResult): TeamError {
  const what = `it2 ${args.slice(0, 2).join(" ")}`;
  const reason = firstLine(finished.stderr) || firstLine(finished.stdout) || "no output";
  const details = { command: ["it2", ...args], exitCode: finished.code ?? null };
  if (finished.failure === "timed-out") {
    const message = `${what} did not answer within ${CALL_MS / 1000} s.`;
    return new TeamError("TIMEOUT", message, {
      hint: `iTerm2 may be waiting for your permission. ${NO_API}`,
      details,
    });
  }
  // A program that does not know the arguments prints its usage. Any other failure means that iTerm2 could not be reached.
  const isOtherProgram = /^(usage|error: no such)/im.test(finished.stderr);
  if (finished.code === UNREACHABLE && !isOtherProgram) {
    return new TeamError("SPAWN_FAILED", `iTerm2 does not answer it2: ${reason}`, { hint: NO_API, details });
  }
  return new TeamError("SPAWN_FAILED", `${what} failed: ${reason}`, {
    hint: isOtherProgram
      ? "This it2 is another program, or older than 0.2. Run `uv tool install --upgrade it2`."
      : "Check with `it2 session list` whether the window still exists.",
    details,
  });
}

function unexpectedOutput(args: readonly string[], text: string, cause?: unknown): TeamError {
  const message = `it2 ${args.slice(0, 2).join(" ")} printed unexpected output: ${firstLine(text) || "nothing"}`;
  return new TeamError("SPAWN_FAILED", message, {
    hint: "Check which it2 is on the PATH: this it2 is another program, or a version that teams does not support.",
    details: { command: ["it2", ...args] },
    cause,
  });
}

function firstLine(text: string): string {
  return shortened(stripControls(text.trim().split("\n")[0] ?? ""), 200);
}

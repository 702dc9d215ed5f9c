import * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import { type ProgramResult, run } from "../../os/process/run.ts";
import { parseInWords } from "../../schema/zod-helpers.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { INSTALL_IT2 } from "../choose-backend.ts";

/** iTerm2 as its command line `it2` (PyPI: it2) drives it. Every call starts a Python and takes some tenths of a second. */
export interface It2 {
  /** Its own version, without asking iTerm2. */
  version(): Promise<string>;
  /** The session that has the keyboard in iTerm2; undefined when no window of it is open. */
  focused(): Promise<string | undefined>;
  /** Opens a window that runs one command in place of a shell. @param words see {@link commandOf} */
  openWindow(words: readonly string[]): Promise<void>;
  /** The sessions that exist, by their ids. */
  sessions(): Promise<ReadonlySet<string>>;
  /** The last lines of a session's screen; undefined when there is no such session. */
  read(session: string, lines: number): Promise<readonly string[] | undefined>;
  /** @returns whether there was such a session */
  focus(session: string): Promise<boolean>;
  /** Closes a session, if it is there. */
  close(session: string): Promise<void>;
}

interface It2Options {
  readonly env: Env;
  readonly run?: typeof run;
}

/** Milliseconds of one call: at the first one iTerm2 asks the person whether programs may drive it. */
const CALL_MS = 30_000;
/** A screen has some thousand cells, a list of sessions some hundred bytes for each. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Its exit codes: 2 also of a call that its command line does not know. */
const [UNREACHABLE, NOT_THERE] = [2, 3];

/** How a session is named: by it2 bare, by the terminal's variables behind `w0t0p0:`. */
const SESSION = /^(?:w\d+t\d+p\d+[:.])?([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$/;

const sessionList = z.array(z.looseObject({ id: z.string() }));

const NO_API =
  "Switch on Settings > General > Magic > Enable Python API in iTerm2, and answer its question; or leave --teammate-mode at auto.";

/** Whether what this runs in is a session of iTerm2, as the environment has it. */
export function isIterm2(env: Env): boolean {
  return env.TERM_PROGRAM === "iTerm.app" || sessionIdOf(env.ITERM_SESSION_ID) !== undefined;
}

/** The id of a session by any of its names; undefined for what is none. */
export function sessionIdOf(name: string | undefined): string | undefined {
  return SESSION.exec(name ?? "")?.[1]?.toUpperCase();
}

/**
 * One line as iTerm2 takes words apart: there is no shell, but a backslash escapes also between quotes, `\(` begins an
 * expression and `$$` a question to the person.
 * @throws TeamError INVALID_INPUT for a word that it would change
 */
export function commandOf(words: readonly string[]): string {
  const changed = words.find((word) => word === "" || /["\\\p{Cc}]|\$\$/u.test(word));
  if (changed === undefined)
    return words.map((word) => (/^[\w/.%:@+-]+$/.test(word) ? word : `"${word}"`)).join(" ");
  throw new TeamError("INVALID_INPUT", `iTerm2 would not take ${JSON.stringify(changed)} as it is.`, {
    hint: "Nothing was started. Set XDG_RUNTIME_DIR to a directory with a plainer name.",
  });
}

export function it2Driver(options: It2Options): It2 {
  const { env } = options;
  const execute = options.run ?? run;

  const call = async (args: readonly string[]): Promise<ProgramResult> => {
    if (findProgram("it2", env) === undefined) throw notInstalled();
    return execute("it2", args, { env, timeoutMs: CALL_MS, maxBytes: MAX_BYTES });
  };
  const answer = async (args: readonly string[]): Promise<string> => {
    const finished = await call(args);
    if (finished.code !== 0) throw callFailed(args, finished);
    return finished.stdout;
  };
  /** Undefined when what was asked for is not there. */
  const answerIfThere = async (args: readonly string[]): Promise<string | undefined> => {
    const finished = await call(args);
    if (finished.code === NOT_THERE && /not found/i.test(finished.stderr)) return undefined;
    if (finished.code !== 0) throw callFailed(args, finished);
    return finished.stdout;
  };

  return {
    async version() {
      const text = await answer(["--version"]);
      const version = /^it2, version (\d[\w.+-]{0,30})\s*$/.exec(text)?.[1];
      if (version === undefined) throw unexpectedOutput(["--version"], text);
      return version;
    },
    async focused() {
      const text = await answer(["app", "get-focus"]);
      return sessionIdOf(/^Current session: (\S+)$/m.exec(text)?.[1]);
    },
    async openWindow(words) {
      const args = ["window", "new", "--command", commandOf(words)];
      const text = await answer(args);
      if (!/^Created new window: \S/m.test(text)) throw unexpectedOutput(args, text);
    },
    async sessions() {
      const args = ["session", "list", "--json"];
      const text = await answer(args);
      return new Set(parseSessions(args, text).flatMap(({ id }) => sessionIdOf(id) ?? []));
    },
    async read(session, lines) {
      // The whole screen, since the rows below the last line count as lines, too.
      const text = await answerIfThere(["session", "read", "--session", session]);
      if (text === undefined) return undefined;
      const shown = text.trimEnd();
      return shown === "" ? [] : shown.split("\n").slice(-lines);
    },
    async focus(session) {
      return (await answerIfThere(["session", "focus", session])) !== undefined;
    },
    async close(session) {
      await answerIfThere(["session", "close", "--session", session, "--force"]);
    },
  };
}

function parseSessions(args: readonly string[], text: string): z.infer<typeof sessionList> {
  try {
    const parsed = parseInWords(sessionList, JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch (cause) {
    throw unexpectedOutput(args, text, cause);
  }
  throw unexpectedOutput(args, text);
}

function notInstalled(): TeamError {
  return new TeamError(
    "CLI_NOT_FOUND",
    "iTerm2 is driven by its command line it2, which is not on the PATH.",
    {
      hint: INSTALL_IT2,
    },
  );
}

function callFailed(args: readonly string[], finished: ProgramResult): TeamError {
  const what = `it2 ${args.slice(0, 2).join(" ")}`;
  const said = firstLine(finished.stderr) || firstLine(finished.stdout) || "it said nothing";
  const details = { command: ["it2", ...args], exitCode: finished.code ?? null };
  if (finished.failure === "timed-out") {
    const message = `${what} did not answer within ${CALL_MS / 1000} s.`;
    return new TeamError("TIMEOUT", message, { hint: `Does iTerm2 wait for an answer? ${NO_API}`, details });
  }
  // A command line that does not know the words says how it is used; any other does not reach iTerm2.
  const isOtherProgram = /^(usage|error: no such)/im.test(finished.stderr);
  if (finished.code === UNREACHABLE && !isOtherProgram) {
    return new TeamError("SPAWN_FAILED", `iTerm2 does not answer it2: ${said}`, { hint: NO_API, details });
  }
  return new TeamError("SPAWN_FAILED", `${what} failed: ${said}`, {
    hint: isOtherProgram
      ? "This it2 is another program, or an old one: uv tool install --upgrade it2 (0.2 or newer)."
      : "Is the window still there? `it2 session list` says what iTerm2 has.",
    details,
  });
}

function unexpectedOutput(args: readonly string[], text: string, cause?: unknown): TeamError {
  const message = `it2 ${args.slice(0, 2).join(" ")} answered what it does not answer: ${firstLine(text) || "nothing"}`;
  return new TeamError("SPAWN_FAILED", message, {
    hint: "This it2 is another program, or a newer one that teams does not know.",
    details: { command: ["it2", ...args] },
    cause,
  });
}

function firstLine(text: string): string {
  return stripControls(text.trim().split("\n")[0] ?? "").slice(0, 200);
}

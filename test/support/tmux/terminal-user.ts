import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../../../src/os/env.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { TEAMS } from "../processes/built-program.ts";
import { eventually } from "../timing/eventually.ts";
import { type PrivateTmux, privateTmux, sizing } from "./private-tmux.ts";

/** A user at a pane of tmux. */
export interface PaneUser {
  readonly pane: string;
  /** The text of the terminal, with its history. */
  screen(): string;
  /** Waits until the terminal shows this text. */
  sees(text: string | RegExp): Promise<string>;
  /** Types key names or text. */
  type(...keys: string[]): void;
}

/** A user who typed `teams …` in a terminal: inside tmux, a pane of the private server; outside, a pane of another server. */
export interface Person extends PaneUser {
  /** Ends the run by Ctrl-C: the first one only warns. Resolves when the end has begun. */
  endsRun(): Promise<void>;
  /** Resolves with the exit status when the program has ended; the terminal stays open. */
  code(): Promise<number>;
}

export interface PersonOptions {
  readonly env?: Env;
  readonly cwd?: string;
  readonly session?: string;
  readonly size?: { readonly width: number; readonly height: number };
  /** A file for all output of the program. The pane's pipe to it runs until the test ends it. */
  readonly bytes?: string;
}

/** Keeps the terminal with its text after the program has ended, and records the exit status. */
const RUNNER = `trap : INT HUP; code=$1; shift; "$@"; echo $? > "$code.new"; mv "$code.new" "$code"; exec cat`;

/** Runs `teams …` in a pane of the user's session, inside tmux. */
export function personInside(t: PrivateTmux, words: readonly string[], options: PersonOptions = {}): Person {
  return personIn(t, [process.execPath, TEAMS, ...words], options);
}

/** Runs `teams …` in a terminal outside tmux: a pane of a second server, without that server's variables. */
export function personOutside(t: PrivateTmux, words: readonly string[], options: PersonOptions = {}): Person {
  const terminal = privateTmux({ config: "set -g status off" });
  const { TMUX_TMPDIR, HOME, TEAMS_HOME, XDG_RUNTIME_DIR, TEAMS_TMUX_SOCKET, TEAMS_TEST } = t.env;
  const ofTheTest = { TMUX_TMPDIR, HOME, TEAMS_HOME, XDG_RUNTIME_DIR, TEAMS_TMUX_SOCKET, TEAMS_TEST };
  const env = { TERM: "screen-256color", ...ofTheTest, ...options.env };
  // Set for the program only: the terminal's server keeps its own environment.
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value ?? ""}`);
  const argv = ["env", "-u", "TMUX", "-u", "TMUX_PANE", ...assignments, process.execPath, TEAMS, ...words];
  return personIn(terminal, argv, { cwd: t.home, ...options, env: {} });
}

function personIn(t: PrivateTmux, argv: readonly string[], options: PersonOptions): Person {
  const { env = {}, cwd = t.home, session = "work", size = { width: 160, height: 50 }, bytes } = options;
  const codeFile = join(temporaryDirectory("tt-code-"), "code");
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value ?? ""}`]);
  const pane = t.tmux(
    ...["new-session", "-d", "-s", session, "-n", "mine", "-c", cwd, "-P", "-F", "#{pane_id}"],
    ...["-x", `${size.width}`, "-y", `${size.height}`, ...variables],
    ...["--", "/bin/sh", "-c", RUNNER, "sh", codeFile, ...argv],
    // In the same call: tmux reads nothing of the program before.
    ...(bytes === undefined ? [] : [";", "pipe-pane", "-t", `=${session}:`, `cat >'${bytes}'`]),
    ...[";", "set-option", "-t", `=${session}:`, "destroy-unattached", "off"],
    ...sizing(session, size),
  );
  const { screen, sees, type } = userAt(t, pane);
  return {
    pane,
    screen,
    sees,
    type,
    endsRun: async () => {
      type("C-c");
      await sees("Ctrl-C once more ends the run");
      await confirmsCtrlC({ screen, type }, () => /(stopping|ending) the team/.test(screen()));
    },
    code: async () => {
      await eventually("the program's end", () => existsSync(codeFile));
      return Number(readFileSync(codeFile, "utf8"));
    },
  };
}

/** The errors of tmux about a pane that has closed, or whose server has ended. */
const PANE_GONE = /can't find (?:pane|session)|no server running|error connecting|lost server|server exited/;

/**
 * Presses Ctrl-C after its warning until it counts. The program warns again if the machine stalled for longer than it remembers
 * the first press.
 */
export async function confirmsCtrlC(
  { screen, type }: Pick<PaneUser, "screen" | "type">,
  hasBegun: () => boolean,
): Promise<void> {
  const warnings = (): number => screen().split("Ctrl-C once more ends").length;
  const pressAgain = async (): Promise<void> => {
    const shown = warnings();
    type("C-c");
    await eventually("the end, or another warning", () => hasBegun() || warnings() > shown);
  };
  try {
    while (!hasBegun()) await pressAgain();
  } catch (error) {
    // The pane has closed between two polls.
    if (!PANE_GONE.test(String(error))) throw error;
  }
}

/** A user at an existing pane, such as that of a teammate. */
export function userAt(t: Pick<PrivateTmux, "tmux">, pane: string): PaneUser {
  const screen = (): string => t.tmux("capture-pane", "-p", "-S", "-200", "-t", pane);
  const type = (...keys: string[]): void => void t.tmux("send-keys", "-t", pane, ...keys);
  const sees = async (text: string | RegExp): Promise<string> => {
    const find = (): string | false => {
      const shown = screen();
      return (typeof text === "string" ? shown.includes(text) : text.test(shown)) && shown;
    };
    return eventually(`${text} on the screen`, find).catch((cause: unknown) => {
      throw new Error(`${text} did not appear. The screen:\n${screen().trimEnd()}`, { cause });
    });
  };
  return { pane, screen, sees, type };
}

import { type Env, hasUtf8 } from "../os/env.ts";

/** The abilities of a terminal that change how text is shown. */
export interface TerminalAbilities {
  /** Whether it shows hyperlinks (OSC 8). */
  readonly links: boolean;
  /** Whether it shows only ASCII: its locale has no UTF-8. */
  readonly ascii: boolean;
}

/** Terminals that show links, by `TERM_PROGRAM`; besides tmux. */
const LINKING: ReadonlySet<string> = new Set(["ghostty", "iTerm.app", "kitty", "vscode", "WezTerm"]);
/** VTE, the terminal of GNOME, since 0.50. */
const LINKING_VTE = 5_000;

export function terminalAbilities(env: Env): TerminalAbilities {
  const { TERM_PROGRAM = "", TERM_PROGRAM_VERSION = "", VTE_VERSION } = env;
  // Inside tmux, variables of the outer terminal may still be set.
  const links =
    TERM_PROGRAM === "tmux"
      ? tmuxHasLinks(TERM_PROGRAM_VERSION)
      : LINKING.has(TERM_PROGRAM) || Number(VTE_VERSION) >= LINKING_VTE;
  return { links: links && canDraw(env), ascii: !hasUtf8(env) };
}

/** Whether a terminal interprets control sequences. A dumb one, such as the Emacs shell, shows them as text. */
export function canDraw(env: Env): boolean {
  return env.TERM !== "dumb";
}

/** Since 3.4. A build before the release of 3.7 is called `next-3.7`. */
function tmuxHasLinks(version: string): boolean {
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return major > 3 || (major === 3 && minor >= 4);
}

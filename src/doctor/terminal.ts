import { type It2, isIterm2, it2Driver } from "../backend/iterm2/it2-cli.ts";
import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { tmuxCaller } from "../tmux/caller.ts";
import { hasLostSocket } from "../tmux/unreachable.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Reports where teammates appear. @param ended the socket of the server that `$TMUX` named, if it has ended */
export function checkInsideTmux(env: Env, ended?: string): Finding {
  if (ended !== undefined) {
    const text = `no: $TMUX names a tmux server that has ended (${ended}); teammates get a detached session`;
    return warn("inside tmux", text, "Remove the variables from this shell: unset TMUX TMUX_PANE");
  }
  const caller = tmuxCaller(env);
  if (caller !== undefined && hasLostSocket(caller.socket.path, { pid: caller.serverPid }))
    return ok("inside tmux", "yes: teammates get panes in this session once its socket is restored");
  if (env.TMUX) return ok("inside tmux", "yes: teammates get panes in this session");
  return ok("inside tmux", "no: teammates get a detached session; to attach to it: teams attach");
}

/**
 * Checks whether teammates can have windows of iTerm2; no finding in another terminal. It sends a request to iTerm2, which
 * asks the user for permission the first time.
 */
export async function checkIterm2(
  env: Env,
  it2: Pick<It2, "focused" | "version"> = it2Driver({ env }),
): Promise<Finding[]> {
  // In tmux, teammates have panes in any terminal.
  if (env.TMUX || !isIterm2(env)) return [];
  try {
    const version = await it2.version();
    await it2.focused();
    return [ok("iTerm2", `it2 ${version} works: --teammate-mode iterm2 gives each teammate a window`)];
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    // it2 is optional.
    if (error.code === "CLI_NOT_FOUND")
      return [ok("iTerm2", "it2 is not installed; with it, teammates could have windows of iTerm2")];
    return [warn("iTerm2", `--teammate-mode iterm2 is not available: ${error.message}`, error.hint ?? "")];
  }
}

/** Checks whether the terminal can show colours and UTF-8. @param isTerminal whether stdout is a terminal */
export function checkTerminal(env: Env, isTerminal: boolean): Finding[] {
  if (!isTerminal) return [ok("terminal", "stdout is not a terminal; output is plain")];
  return [checkColors(env), checkLocale(env)];
}

function checkColors(env: Env): Finding {
  const term = env.TERM ?? "";
  if (term === "" || term === "dumb") {
    return warn(
      "terminal",
      `TERM is ${term || "not set"}`,
      "Use a terminal that sets TERM; the sidebar needs it.",
    );
  }
  if (/256color|direct|kitty|ghostty/.test(term) || env.COLORTERM)
    return ok("terminal", `${term}, 256 colours`);
  const remedy = 'Set TERM=xterm-256color, or in tmux.conf: set -g default-terminal "tmux-256color".';
  return warn("terminal", `${term} has fewer than 256 colours`, remedy);
}

/** Checks the locale: the first of these variables that is set applies, as in the C library. */
function checkLocale(env: Env): Finding {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  if (/utf-?8/i.test(locale)) return ok("locale", locale);
  const text = locale === "" ? "no locale is set" : `${locale} is not UTF-8`;
  return warn("locale", text, "Set LANG to a UTF-8 locale, such as C.UTF-8 or en_US.UTF-8.");
}

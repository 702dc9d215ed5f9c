import { type It2, isIterm2, it2Driver } from "../backend/iterm2/it2-cli.ts";
import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Where teammates would appear. */
export function checkInsideTmux(env: Env): Finding {
  if (env.TMUX) return ok("inside tmux", "yes: teammates get panes of this session");
  return ok("inside tmux", "no: teammates get a detached session; `teams attach` goes there");
}

/**
 * Whether teammates could have windows of iTerm2; nothing where this is another terminal. Asking it is the proof, and the
 * first time iTerm2 asks the person.
 */
export async function checkIterm2(
  env: Env,
  it2: Pick<It2, "focused" | "version"> = it2Driver({ env }),
): Promise<Finding[]> {
  // In tmux teammates have panes, whatever terminal looks at them.
  if (env.TMUX || !isIterm2(env)) return [];
  try {
    const version = await it2.version();
    await it2.focused();
    return [ok("iTerm2", `it2 ${version} drives it: --teammate-mode iterm2 gives each teammate a window`)];
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    // Nobody has to have it.
    if (error.code === "CLI_NOT_FOUND")
      return [ok("iTerm2", "without it2, which would give teammates windows of it")];
    return [warn("iTerm2", `--teammate-mode iterm2 is not available: ${error.message}`, error.hint ?? "")];
  }
}

/** Whether the screen can show what we draw. @param isTerminal whether stdout is one */
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
      "Use a terminal that sets TERM; the sidebar needs one.",
    );
  }
  if (/256color|direct|kitty|ghostty/.test(term) || env.COLORTERM)
    return ok("terminal", `${term}, 256 colours`);
  const remedy = 'Use TERM=xterm-256color, in tmux.conf: set -g default-terminal "tmux-256color".';
  return warn("terminal", `${term} has fewer than 256 colours`, remedy);
}

/** The first of these that is set counts, as for the C library. */
function checkLocale(env: Env): Finding {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  if (/utf-?8/i.test(locale)) return ok("locale", locale);
  const text = locale === "" ? "no locale is set" : `${locale} is not UTF-8`;
  return warn("locale", text, "Set LANG to a UTF-8 locale, such as C.UTF-8 or en_US.UTF-8.");
}

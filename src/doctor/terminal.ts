import type { Env } from "../os/env.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Where teammates would appear. */
export function checkInsideTmux(env: Env): Finding {
  if (env.TMUX) return ok("inside tmux", "yes: teammates get panes of this session");
  return ok("inside tmux", "no: teammates get a detached session; `teams attach` goes there");
}

/** Whether the screen can show what we draw. @param isTerminal whether stdout is one */
export function checkTerminal(env: Env, isTerminal: boolean): Finding[] {
  if (!isTerminal) return [ok("terminal", "stdout is none; output is plain")];
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

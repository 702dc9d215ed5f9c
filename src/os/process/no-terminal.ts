import { shellQuote } from "../../text/shell-quote.ts";
import type { Env } from "../env.ts";

const HINT =
  "There is no terminal for an editor: pass the text with an option such as -m or -F, or use --no-edit.";

/** Fails. A shell reads the rest as a comment, and a program that starts an editor without a shell ignores it. */
const NO_EDITOR = "false # no terminal for an editor";

/** Editors that need no terminal: they do nothing, or edit by their arguments. */
const NEEDS_NO_TERMINAL = /^(?:(?:\/usr)?\/bin\/)?(?::|true|false|cat|(?:sed|perl) .*)$/;

/**
 * Git's editor, as a shell command. It overrides git's configuration, so it must run the editor of a command such as
 * `EDITOR=true git …` itself.
 */
const GIT_EDITOR = `case $EDITOR in :|true|*/true|cat|sed\\ *|perl\\ *) eval "$EDITOR \\"\\$@\\"";; *) echo "${HINT}" >&2; false;; esac #`;

/** Git's editor, even if a command chooses it with `GIT_EDITOR=true git rebase -i`. */
const GIT_SEQUENCE_EDITOR = 'eval "$GIT_EDITOR \\"\\$@\\"" #';

const EDITORS: Env = {
  EDITOR: NO_EDITOR,
  VISUAL: NO_EDITOR,
  GIT_EDITOR,
  GIT_SEQUENCE_EDITOR,
  // Some programs prefer their own variable.
  HGEDITOR: NO_EDITOR,
  SVN_EDITOR: NO_EDITOR,
  JJ_EDITOR: NO_EDITOR,
  GH_EDITOR: NO_EDITOR,
  KUBE_EDITOR: NO_EDITOR,
  SUDO_EDITOR: NO_EDITOR,
};

/** Programs would ask in an unexpected window, or on a terminal that belongs to another program. */
const NO_QUESTIONS: Env = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
};

/**
 * Returns the environment of a command without a terminal. A program that would open an editor, a pager or a question fails at once, with
 * a reason. Editors that need no terminal stay, and so do programs that the user has chosen to answer for a password
 * (`GIT_ASKPASS`, `SSH_ASKPASS_REQUIRE=force`). Idempotent; pure.
 */
export function withoutTerminal({ GPG_TTY, ...env }: Env): Env {
  const chosen = Object.entries(env).filter(
    ([name, value]) => name in EDITORS && NEEDS_NO_TERMINAL.test(value ?? ""),
  );
  return {
    ...env,
    ...EDITORS,
    ...Object.fromEntries(chosen),
    ...NO_QUESTIONS,
    // Empty: git runs neither the configured program nor that of ssh.
    GIT_ASKPASS: env.GIT_ASKPASS ?? "",
    SSH_ASKPASS_REQUIRE: env.SSH_ASKPASS_REQUIRE === "force" ? "force" : "never",
  };
}

/** Returns a shell command that sets these variables again, after startup files that may set others. */
export function terminalVariables(env: Env): string {
  const set = Object.entries(withoutTerminal(env)).flatMap(([name, value]) =>
    (name in EDITORS || name in NO_QUESTIONS) && value !== undefined ? [`${name}=${shellQuote(value)}`] : [],
  );
  return `export ${set.join(" ")}; unset GPG_TTY`;
}

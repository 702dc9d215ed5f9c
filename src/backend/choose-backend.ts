import { TeamError } from "../errors.ts";
import type { BackendType } from "../schema/config.ts";

export const TEAMMATE_MODES = ["auto", "tmux", "in-process", "iterm2", "process"] as const;
export type TeammateMode = (typeof TEAMMATE_MODES)[number];

export interface BackendConditions {
  readonly mode: TeammateMode;
  readonly insideTmux: boolean;
  readonly tmuxFound: boolean;
  /** Whether the terminal is iTerm2, and whether `it2`, which drives it, is there. */
  readonly insideIterm2: boolean;
  readonly it2Found: boolean;
  /** `run` stays and can hold agents in its own process; a single command ends. */
  readonly command: "run" | "single";
  /** Backends that this installation has; all by default. */
  readonly available?: readonly BackendType[];
}

interface BackendChoice {
  readonly backend: BackendType;
  /** One sentence for the person: why this one. */
  readonly why: string;
}

/**
 * Which backend teammates get (protocol.md section 6, teammateMode). Pure.
 * @throws TeamError TMUX_NOT_FOUND, CLI_NOT_FOUND or INVALID_INPUT when the one that was asked for cannot be had
 */
export function chooseBackend(question: BackendConditions): BackendChoice {
  const { mode } = question;
  if (mode === "auto") return chooseAutomatically(question);
  const refusal = unavailableError(question, mode);
  if (refusal !== undefined) throw refusal;
  return { backend: mode, why: `the teammate mode ${mode} was asked for` };
}

/** iTerm2 is taken only when it is asked for: in tmux teammates share a window, and outlive the terminal. */
function chooseAutomatically(question: BackendConditions): BackendChoice {
  if (question.insideTmux) return { backend: "tmux", why: "inside tmux: panes" };
  if (question.tmuxFound) return { backend: "tmux", why: "outside tmux: a detached tmux session" };
  if (question.command === "run" && isAvailable(question, "in-process")) {
    return { backend: "in-process", why: `no tmux: in the lead's own process${iterm2Hint(question)}` };
  }
  return { backend: "process", why: `no tmux: child processes without panes${iterm2Hint(question)}` };
}

function iterm2Hint({ insideIterm2, it2Found }: BackendConditions): string {
  return insideIterm2 && it2Found ? " (for iTerm2 windows: --teammate-mode iterm2)" : "";
}

function unavailableError(question: BackendConditions, mode: BackendType): TeamError | undefined {
  if (mode === "tmux" && !question.tmuxFound) {
    return new TeamError("TMUX_NOT_FOUND", "tmux was asked for and is not installed, or not on the PATH.", {
      hint: "Install tmux 3.2 or newer (apt install tmux, brew install tmux), or leave --teammate-mode at auto.",
    });
  }
  if (mode === "in-process" && question.command === "single") {
    const message = "In-process teammates live in a lead's process, and this command ends.";
    return new TeamError("INVALID_INPUT", message, {
      hint: "Use `teams run --teammate-mode in-process`, or --teammate-mode process here.",
    });
  }
  if (!isAvailable(question, mode)) {
    return new TeamError("INVALID_INPUT", `The teammate mode ${mode} is not part of this version.`, {
      hint: `Choose one of: auto, ${(question.available ?? []).join(", ")}.`,
    });
  }
  if (mode === "iterm2" && !question.insideIterm2) {
    const message =
      "iTerm2 was asked for, and this does not run in it: neither $TERM_PROGRAM nor $ITERM_SESSION_ID says so.";
    return new TeamError("INVALID_INPUT", message, {
      hint: "Call it in a window of iTerm2, or leave --teammate-mode at auto.",
    });
  }
  if (mode === "iterm2" && !question.it2Found) {
    const message = "iTerm2 was asked for, and its command line it2 is not installed, or not on the PATH.";
    return new TeamError("CLI_NOT_FOUND", message, { hint: INSTALL_IT2 });
  }
  return undefined;
}

/** What to do where it2 is missing. */
export const INSTALL_IT2 =
  "Install it (uv tool install it2, or pipx install it2), or leave --teammate-mode at auto.";

function isAvailable({ available }: BackendConditions, type: BackendType): boolean {
  return available === undefined || available.includes(type);
}

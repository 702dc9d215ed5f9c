import { TeamError } from "../errors.ts";
import type { BackendType } from "../schema/config.ts";

export const TEAMMATE_MODES = ["auto", "tmux", "in-process", "iterm2", "process"] as const;
export type TeammateMode = (typeof TEAMMATE_MODES)[number];

export interface BackendConditions {
  readonly mode: TeammateMode;
  readonly insideTmux: boolean;
  readonly tmuxFound: boolean;
  readonly insideIterm2: boolean;
  /** Whether `it2`, the command line that controls iTerm2, is on the PATH. */
  readonly it2Found: boolean;
  /** `run` keeps running and can run agents in its own process; a single command exits. */
  readonly command: "run" | "single";
}

interface BackendChoice {
  readonly backend: BackendType;
  /** Why this backend, for the user. */
  readonly why: string;
}

/**
 * Chooses the backend for new teammates (protocol.md section 6, teammateMode). Pure.
 * @throws TeamError TMUX_NOT_FOUND, CLI_NOT_FOUND or INVALID_INPUT if the requested backend is not available
 */
export function chooseBackend(conditions: BackendConditions): BackendChoice {
  const { mode } = conditions;
  if (mode === "auto") return chooseAutomatically(conditions);
  const error = unavailableError(conditions, mode);
  if (error !== undefined) throw error;
  return { backend: mode, why: `teammate mode ${mode}` };
}

/** Never chooses iTerm2: in tmux, teammates share a window and survive the terminal. */
function chooseAutomatically(conditions: BackendConditions): BackendChoice {
  if (conditions.insideTmux) return { backend: "tmux", why: "inside tmux: panes" };
  if (conditions.tmuxFound) return { backend: "tmux", why: "outside tmux: a detached tmux session" };
  if (conditions.command === "run") {
    return { backend: "in-process", why: `no tmux: in the lead's own process${iterm2Hint(conditions)}` };
  }
  return { backend: "process", why: `no tmux: child processes without panes${iterm2Hint(conditions)}` };
}

function iterm2Hint({ insideIterm2, it2Found }: BackendConditions): string {
  return insideIterm2 && it2Found ? " (for iTerm2 windows: --teammate-mode iterm2)" : "";
}

function unavailableError(conditions: BackendConditions, mode: BackendType): TeamError | undefined {
  if (mode === "tmux" && !conditions.tmuxFound) {
    return new TeamError(
      "TMUX_NOT_FOUND",
      "The teammate mode is tmux, but tmux is not installed or not on the PATH; no teammate was started.",
      {
        hint: "Install tmux 3.2 or newer (apt install tmux, brew install tmux), or omit --teammate-mode.",
      },
    );
  }
  if (mode === "in-process" && conditions.command === "single") return singleCommandError();
  if (mode === "iterm2" && !conditions.insideIterm2) {
    const message =
      "The teammate mode is iterm2, but according to $TERM_PROGRAM and $ITERM_SESSION_ID this terminal is not iTerm2; no teammate was started.";
    return new TeamError("INVALID_INPUT", message, {
      hint: "Run the command in an iTerm2 window, or omit --teammate-mode.",
    });
  }
  if (mode === "iterm2" && !conditions.it2Found) {
    const message =
      "The teammate mode is iterm2, but iTerm2's command line it2 is not installed or not on the PATH; no teammate was started.";
    return new TeamError("CLI_NOT_FOUND", message, { hint: INSTALL_IT2 });
  }
  return undefined;
}

/** Returns the error of a command that asks for in-process teammates but does not keep running. */
export function singleCommandError(): TeamError {
  const message =
    "In-process teammates run in the lead's process, but this command exits; no teammate was started.";
  return new TeamError("INVALID_INPUT", message, {
    hint: "Use `teams run --teammate-mode in-process`, or run this command with --teammate-mode process.",
  });
}

/** The hint for a missing it2. */
export const INSTALL_IT2 = "Install it (uv tool install it2, or pipx install it2), or omit --teammate-mode.";

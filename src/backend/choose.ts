import { TeamError } from "../errors.ts";
import type { BackendType } from "../schema/config.ts";

export const TEAMMATE_MODES = ["auto", "tmux", "in-process", "iterm2", "process"] as const;
export type TeammateMode = (typeof TEAMMATE_MODES)[number];

export interface BackendQuestion {
  readonly mode: TeammateMode;
  readonly insideTmux: boolean;
  readonly tmuxFound: boolean;
  /** `run` stays and can hold agents in its own process; a single command ends. */
  readonly command: "run" | "single";
  /** Backends that this installation has; all by default. */
  readonly available?: readonly BackendType[];
}

export interface BackendChoice {
  readonly backend: BackendType;
  /** One sentence for the person: why this one. */
  readonly why: string;
}

/**
 * Which backend teammates get (protocol.md section 6, teammateMode). Pure.
 * @throws TeamError TMUX_NOT_FOUND or INVALID_INPUT when the one that was asked for cannot be had
 */
export function chooseBackend(question: BackendQuestion): BackendChoice {
  const { mode, command } = question;
  if (mode === "auto") return chooseAutomatically(question);
  if (mode === "tmux" && !question.tmuxFound) {
    throw new TeamError("TMUX_NOT_FOUND", "tmux was asked for and is not installed, or not on the PATH.", {
      hint: "Install tmux 3.2 or newer (apt install tmux, brew install tmux), or leave --teammate-mode at auto.",
    });
  }
  if (mode === "in-process" && command === "single") {
    throw new TeamError(
      "INVALID_INPUT",
      "In-process teammates live in a lead's process, and this command ends.",
      {
        hint: "Use `teams run --teammate-mode in-process`, or --teammate-mode process here.",
      },
    );
  }
  if (!isAvailable(question, mode)) {
    throw new TeamError("INVALID_INPUT", `The teammate mode ${mode} is not part of this version.`, {
      hint: `Choose one of: auto, ${(question.available ?? []).join(", ")}.`,
    });
  }
  return { backend: mode, why: `--teammate-mode ${mode} was given` };
}

function chooseAutomatically(question: BackendQuestion): BackendChoice {
  if (question.insideTmux) return { backend: "tmux", why: "inside tmux: panes" };
  if (question.tmuxFound) return { backend: "tmux", why: "outside tmux: a detached tmux session" };
  if (question.command === "run" && isAvailable(question, "in-process")) {
    return { backend: "in-process", why: "no tmux: in the lead's own process" };
  }
  return { backend: "process", why: "no tmux: child processes without panes" };
}

function isAvailable({ available }: BackendQuestion, type: BackendType): boolean {
  return available === undefined || available.includes(type);
}

import { TeamError } from "../errors.ts";
import type { TmuxCommand } from "./command.ts";

/** Why a call of tmux failed; callers handle each kind differently. */
export type TmuxErrorKind =
  /** tmux is not installed. */
  | "not-found"
  | "too-old"
  /** No server listens at the socket. */
  | "no-server"
  /** The named pane, window, session or client does not exist. */
  | "no-target"
  | "refused"
  /** The server accepted the call and did not answer. */
  | "timed-out"
  /** The server ended during the call. */
  | "lost-server"
  /** The process of the server runs, but no client reaches it. */
  | "unreachable";

/**
 * How much of a call was done when it failed. After `nothing`, the call can be repeated; after `some` and `unknown`, list the panes
 * first.
 */
type CallProgress = "nothing" | "some" | "unknown";

export interface TmuxFailure {
  readonly kind: TmuxErrorKind;
  readonly message: string;
  readonly hint: string;
  readonly done: CallProgress;
  /** The command; for a batch `source-file -`, because its text may contain secrets. */
  readonly command?: TmuxCommand;
  /** The error text of tmux. */
  readonly stderr?: string;
  /** For a batch: the names of its commands, and the lines that they printed before it failed. */
  readonly batch?: { readonly commands: readonly string[]; readonly printed: readonly string[] };
  /** Additional entries of the error's details. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A failed call of tmux: its kind, the command, and how much was done. */
export class TmuxError extends TeamError {
  readonly kind: TmuxErrorKind;
  readonly done: CallProgress;
  readonly command: TmuxCommand | undefined;
  readonly stderr: string | undefined;
  /** The lines that the commands of a batch printed before it failed. */
  readonly printed: readonly string[];

  constructor({ kind, message, hint, done, command, stderr, batch, facts }: TmuxFailure) {
    super(kind === "not-found" ? "TMUX_NOT_FOUND" : "TMUX_ERROR", message, {
      hint,
      details: {
        kind,
        done,
        ...(command === undefined ? {} : { command }),
        ...(stderr === undefined ? {} : { stderr }),
        ...batch,
        ...facts,
      },
    });
    this.kind = kind;
    this.done = done;
    this.command = command;
    this.stderr = stderr;
    this.printed = batch?.printed ?? [];
  }
}

/** Returns the kind of an error line of tmux. The patterns are anchored, because the line can contain names of other programs. */
export function errorKindOf(line: string): "no-server" | "lost-server" | "no-target" | "refused" {
  if (/^(no server running on |error connecting to )/.test(line)) return "no-server";
  if (/^(server exited|lost server|server exited unexpectedly)$/.test(line)) return "lost-server";
  // "no current": a server without sessions that keeps running (exit-empty off).
  if (/^(can't find|no such|no current) (pane|window|session|client|target)\b/.test(line)) return "no-target";
  return "refused";
}

/** The hint for each kind. */
const HINTS = {
  "no-server": "No tmux server runs at that socket; check which server is meant.",
  "lost-server": "The tmux server ended during the call; check with `tmux ls` before you try again.",
  "no-target": "The target no longer exists; check with `tmux list-panes -a`.",
  refused: "See the details for the command and its error text.",
} as const;

/** Creates the error of a call that tmux refused. */
export function refusal(command: TmuxCommand, stderr: string, batch?: TmuxFailure["batch"]): TmuxError {
  const text = stderr.trim();
  const kinds = text.split("\n").map(errorKindOf);
  const kind = kinds.find((found) => found !== "refused") ?? "refused";
  const [name = ""] = command;
  return new TmuxError({
    kind,
    message: `tmux ${name} failed: ${text || "it gave no reason"}.`,
    hint: HINTS[kind],
    done: kind === "lost-server" ? doneBeforeLoss(kinds, batch) : "nothing",
    command,
    stderr: text,
    ...(batch === undefined ? {} : { batch }),
  });
}

/** A printed line or an additional error shows that commands of the batch ran before the server ended. */
function doneBeforeLoss(kinds: readonly string[], batch: TmuxFailure["batch"]): CallProgress {
  const answered = batch !== undefined && (batch.printed.length > 0 || kinds.length > 1);
  return answered ? "some" : "unknown";
}

/** @param advice a hint about hooks that may wait; without it, the hint says that the server may hang */
export function timedOut(
  command: TmuxCommand,
  timeoutMs: number,
  advice: string | undefined,
  batch?: TmuxFailure["batch"],
): TmuxError {
  return new TmuxError({
    kind: "timed-out",
    message: `tmux did not answer ${command[0] ?? ""} within ${timeoutMs / 1000} seconds; it may still run the command.`,
    hint: advice ?? "The tmux server may hang; check it with `tmux ls`.",
    done: "unknown",
    command,
    ...(batch === undefined ? {} : { batch }),
  });
}

/** Creates the error for a call whose server has been replaced by another one at the same socket. */
export function otherServer(command: TmuxCommand): TmuxError {
  return new TmuxError({
    kind: "lost-server",
    message: "The tmux server has ended, and another server uses its socket; nothing was done there.",
    hint: "Run the command again; it lists the current panes first.",
    done: "nothing",
    command,
  });
}

export function programMissing(): TmuxError {
  return new TmuxError({
    kind: "not-found",
    message: "tmux is not installed, or not on the PATH; nothing was started.",
    hint: "Install tmux 3.2 or newer (apt install tmux, brew install tmux).",
    done: "nothing",
  });
}

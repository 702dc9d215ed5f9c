import { TeamError } from "../errors.ts";
import type { TmuxCommand } from "./command.ts";

/** What went wrong between us and a server; each asks something else of the caller. */
export type TmuxErrorKind =
  /** No program of that name. */
  | "not-found"
  | "too-old"
  /** Nobody listens at the socket. */
  | "no-server"
  /** The pane, window, session or client that was named is not there. */
  | "no-target"
  | "refused"
  /** It took the call and did not answer it. */
  | "timed-out"
  /** It went away while it worked. */
  | "lost-server";

/**
 * How much of a call was done when it failed: `nothing` may be tried again as it is, after `some` and `unknown` one has to
 * look first.
 */
type CallProgress = "nothing" | "some" | "unknown";

export interface TmuxFailure {
  readonly kind: TmuxErrorKind;
  readonly message: string;
  readonly hint: string;
  readonly done: CallProgress;
  /** The command; of a batch `source-file -`, since what stands in it may be secret. */
  readonly command?: TmuxCommand;
  /** What tmux said of it. */
  readonly stderr?: string;
  /** Of a batch: the names of its commands, and what they printed before it broke off. */
  readonly batch?: { readonly commands: readonly string[]; readonly printed: readonly string[] };
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A call of tmux that failed: its kind, the command, and what was done by then. */
export class TmuxError extends TeamError {
  readonly kind: TmuxErrorKind;
  readonly done: CallProgress;
  readonly command: TmuxCommand | undefined;
  readonly stderr: string | undefined;

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
  }
}

/** Which kind a line of tmux's is that tells of a failed command; whole lines, since foreign names stand in them. */
export function errorKindOf(line: string): "no-server" | "lost-server" | "no-target" | "refused" {
  if (/^(no server running on |error connecting to )/.test(line)) return "no-server";
  if (/^(server exited|lost server|server exited unexpectedly)$/.test(line)) return "lost-server";
  // No current one: a server that stays without sessions (exit-empty off).
  if (/^(can't find|no such|no current) (pane|window|session|client|target)\b/.test(line)) return "no-target";
  return "refused";
}

/** What is there to do about each kind of refusal. */
const HINTS = {
  "no-server": "No tmux server runs there.",
  "lost-server": "The tmux server went away while it worked; look at what is there before you do it again.",
  "no-target": "It is gone, or was never there; look again at what the server has.",
  refused: "The command and its answer are in the details.",
} as const;

/** A call that tmux answered with an error, and did not do. */
export function refusal(command: TmuxCommand, stderr: string, batch?: TmuxFailure["batch"]): TmuxError {
  const text = stderr.trim();
  const kinds = text.split("\n").map(errorKindOf);
  const kind = kinds.find((one) => one !== "refused") ?? "refused";
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

/** What a command of a batch printed, or was refused, it was asked before the server went away. */
function doneBeforeLoss(kinds: readonly string[], batch: TmuxFailure["batch"]): CallProgress {
  const answered = batch !== undefined && (batch.printed.length > 0 || kinds.length > 1);
  return answered ? "some" : "unknown";
}

export function timedOut(command: TmuxCommand, timeoutMs: number, batch?: TmuxFailure["batch"]): TmuxError {
  return new TmuxError({
    kind: "timed-out",
    message: `tmux did not answer ${command[0] ?? ""} within ${timeoutMs / 1000} seconds.`,
    hint: "The server may hang; look at it with `tmux ls`.",
    done: "unknown",
    command,
    ...(batch === undefined ? {} : { batch }),
  });
}

/** Another server is at the socket than the one that was meant. */
export function otherServer(command: TmuxCommand): TmuxError {
  return new TmuxError({
    kind: "lost-server",
    message:
      "The tmux server that was looked at has ended, and another one has taken its place; nothing was done there.",
    hint: "Do it again: what is there now is looked at first.",
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

/** Exit status of the `teams` binary, by kind of outcome (protocol.md section 9). */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  timedOut: 5,
  missing: 6,
  interrupted: 130,
} as const;

/** Every code a user or script can meet, with the exit status that goes with it (protocol.md section 9). */
export const ERROR_EXIT = {
  ACTIVE_MEMBERS: EXIT.failed,
  NESTED_TEAM: EXIT.failed,
  NOT_LEAD: EXIT.failed,
  RECIPIENT_INACTIVE: EXIT.failed,
  WORKTREE_DIRTY: EXIT.failed,
  PERMISSION_DENIED: EXIT.failed,
  CORRUPT_FILE: EXIT.failed,
  TMUX_ERROR: EXIT.failed,
  SPAWN_FAILED: EXIT.failed,
  MODEL_ERROR: EXIT.failed,
  SHUTDOWN_REFUSED: EXIT.failed,
  INVALID_NAME: EXIT.usage,
  INVALID_TYPE: EXIT.usage,
  INVALID_MODEL: EXIT.usage,
  INVALID_INPUT: EXIT.usage,
  TEAM_NOT_FOUND: EXIT.notFound,
  AGENT_NOT_FOUND: EXIT.notFound,
  RECIPIENT_NOT_FOUND: EXIT.notFound,
  TASK_NOT_FOUND: EXIT.notFound,
  REQUEST_NOT_FOUND: EXIT.notFound,
  TEAM_EXISTS: EXIT.conflict,
  DUPLICATE_NAME: EXIT.conflict,
  ALREADY_LEADING: EXIT.conflict,
  TASK_BLOCKED: EXIT.conflict,
  TASK_CLAIMED: EXIT.conflict,
  TASK_RESOLVED: EXIT.conflict,
  AGENT_BUSY: EXIT.conflict,
  CYCLE: EXIT.conflict,
  ALREADY_ANSWERED: EXIT.conflict,
  LOCK_TIMEOUT: EXIT.timedOut,
  TIMEOUT: EXIT.timedOut,
  TMUX_NOT_FOUND: EXIT.missing,
  CLI_NOT_FOUND: EXIT.missing,
  INTERRUPTED: EXIT.interrupted,
} as const;

export type ErrorCode = keyof typeof ERROR_EXIT;

interface TeamErrorOptions {
  /** What the person does next; shown under the message. */
  readonly hint?: string;
  /** Facts for scripts, printed with `--json`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The one error that crosses a folder's border: a code, one sentence that says how far it got, and a hint. */
export class TeamError extends Error {
  override readonly name = "TeamError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: TeamErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
  }

  get exitCode(): number {
    return ERROR_EXIT[this.code];
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a Node system error (`ENOENT`, …), if it has one; that of a {@link TeamError} is none. */
export function systemCode(error: unknown): string | undefined {
  if (error instanceof TeamError) return undefined;
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** Whether a call of the system failed: the disk is full, the path missing, too much is open. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && systemCode(error) !== undefined && "syscall" in error;
}

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some space there and do it again.",
  EDQUOT: "Free some space there and do it again.",
  EFBIG: "Free some space there, or raise the limit (ulimit -f), and do it again.",
  ENOTDIR: "There is a file where a directory belongs: move it away, or name another place (TEAMS_HOME).",
  EISDIR: "There is a directory where a file belongs: move it away, and do it again.",
  EMFILE: "Too many files are open: end what holds them, or raise the limit (ulimit -n), and do it again.",
  ENFILE: "Too many files are open on this machine: end what holds them, and do it again.",
};

/** What to do about a call that the system refused; for any other code where to look. */
export function systemErrorHint(error: unknown): string {
  return HINTS[systemCode(error) ?? ""] ?? "Is the path this user's, and its file system whole and writable?";
}

/** Of a file that the system does not let us read, or write. @param rest what is safe, as the end of the sentence */
export function fileAccessError(
  path: string,
  verb: "read" | "written",
  error: unknown,
  rest = "",
): TeamError {
  // Without the call and its paths: they name files that only this program knows (a lock, one beside it).
  const reason = messageOf(error).replace(/, [a-z]+( '.*)?$/s, "");
  return new TeamError("PERMISSION_DENIED", `${path} cannot be ${verb} (${reason})${rest}.`, {
    hint: systemErrorHint(error),
    details: { file: path, errno: systemCode(error) },
    cause: error,
  });
}

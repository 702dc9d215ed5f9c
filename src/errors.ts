/** Exit statuses of the `teams` binary (protocol.md section 9). */
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

/** Every error code, with its exit status (protocol.md section 9). */
export const ERROR_EXIT = {
  ACTIVE_MEMBERS: EXIT.failed,
  NESTED_TEAM: EXIT.failed,
  NOT_LEAD: EXIT.failed,
  RECIPIENT_INACTIVE: EXIT.failed,
  WORKTREE_DIRTY: EXIT.failed,
  PERMISSION_DENIED: EXIT.failed,
  CORRUPT_FILE: EXIT.failed,
  STORAGE_ERROR: EXIT.failed,
  TMUX_ERROR: EXIT.failed,
  SPAWN_FAILED: EXIT.failed,
  MODEL_ERROR: EXIT.failed,
  SHUTDOWN_REFUSED: EXIT.failed,
  VERIFY_FAILED: EXIT.failed,
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
  TASK_CONFLICT: EXIT.conflict,
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
  /** The next step for the user; shown below the message. */
  readonly hint?: string;
  /** Facts for scripts, printed with `--json`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The only error that a folder throws to another: a code, a sentence that also says what was changed, and a hint. */
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

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the `code` of a Node system error (`ENOENT`, …), if there is one; never the code of a {@link TeamError}. */
export function systemCode(error: unknown): string | undefined {
  if (error instanceof TeamError) return undefined;
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** Whether a system call failed, because of a full disk, a missing path or too many open files. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && systemCode(error) !== undefined && "syscall" in error;
}

/** Failures of the storage below a path that no owner or mode explains, each with its remedy. */
const STORAGE_HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some disk space there and try again.",
  EDQUOT: "Delete some of your files there, or ask for a larger quota, and try again.",
  EFBIG: "Free some disk space there, or raise the limit (ulimit -f), and try again.",
  EROFS:
    "Mount the file system for writing and try again, or choose another place (TEAMS_HOME). A disk that suddenly became read-only may be failing: see the system's log.",
  EIO: "Check the disk or the network file system, which reports errors: see the system's log. Copy what is there to another disk.",
};

const HINTS: Readonly<Record<string, string>> = {
  ...STORAGE_HINTS,
  ENOTDIR: "Move away the file that has the path of a directory, or choose another place (TEAMS_HOME).",
  EISDIR: "Move away the directory that has the path of the file, and try again.",
  EMFILE: "Close programs that hold many files open, or raise the limit (ulimit -n), and try again.",
  ENFILE: "Close programs that hold many files open on this machine, and try again.",
};

/** Returns the hint for a failed system call; a general one for an unknown code. */
export function systemErrorHint(error: unknown): string {
  return (
    HINTS[systemCode(error) ?? ""] ??
    "Check that you own the path and that its file system is writable, or choose another place (TEAMS_HOME)."
  );
}

/** Returns the code of a failed system call: the storage's failure, or the system's refusal. */
export function systemErrorCode(error: unknown): "STORAGE_ERROR" | "PERMISSION_DENIED" {
  return Object.hasOwn(STORAGE_HINTS, systemCode(error) ?? "") ? "STORAGE_ERROR" : "PERMISSION_DENIED";
}

/** Makes the error for a failed system call that no caller has explained. */
export function systemRefusal(error: NodeJS.ErrnoException): TeamError {
  const code = systemErrorCode(error);
  const part = code === "STORAGE_ERROR" ? "disk" : "system";
  return new TeamError(code, `The ${part} refused it: ${messageOf(error)}.`, {
    hint: systemErrorHint(error),
    details: { errno: systemCode(error) },
    cause: error,
  });
}

/** Whether a file could not be read or written, as {@link fileAccessError} reports it. */
export function isFileAccessError(error: unknown): error is TeamError {
  return error instanceof TeamError && (error.code === "STORAGE_ERROR" || error.code === "PERMISSION_DENIED");
}

/** Makes the error for a file that the system does not let teams read, write or remove, or cannot. @param rest the state now, as the end of the sentence */
export function fileAccessError(
  path: string,
  verb: "read" | "written" | "removed",
  error: unknown,
  rest = "",
): TeamError {
  // Without the system call and its paths: these can be files that the user does not know (a lock, a temporary file).
  const reason = messageOf(error).replace(/, [a-z]+( '.*)?$/s, "");
  return new TeamError(systemErrorCode(error), `${path} cannot be ${verb} (${reason})${rest}.`, {
    hint: systemErrorHint(error),
    details: { file: path, errno: systemCode(error) },
    cause: error,
  });
}

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

/** The code of a {@link TeamError}, such as `TEAM_NOT_FOUND`. */
export type ErrorCode = keyof typeof ERROR_EXIT;

interface TeamErrorOptions {
  /** The next step for the user; shown below the message. */
  readonly hint?: string;
  /** Facts for scripts, printed with `--json`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The error of every failed call, within `teams` and in the library: a code, a message that also says what was changed, and a hint. */
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

  /** The exit status of the command line for this error. */
  get exitCode(): number {
    return ERROR_EXIT[this.code];
  }
}

/**
 * Creates the error for a request that is refused before anything is changed. `details.problem` is the message without what was not
 * done, for a list of problems.
 * @param notDone such as `ada was not started`
 */
export function requestRefusal(
  code: ErrorCode,
  problem: string,
  notDone: string,
  { details, ...options }: TeamErrorOptions = {},
): TeamError {
  return new TeamError(code, `${problem}; ${notDone}.`, { ...options, details: { ...details, problem } });
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

/** Whether the error is that of a failed system call: a full disk, a missing path, too many open files, … */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && systemCode(error) !== undefined && "syscall" in error;
}

/** Storage failures that neither the owner nor the mode of a path explains, each with its remedy. */
const STORAGE_HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some disk space on that file system and try again.",
  EDQUOT: "Delete some of your files on that file system, or ask for a larger quota, and try again.",
  EFBIG: "Free some disk space on that file system, or raise the file size limit (ulimit -f), and try again.",
  EROFS:
    "Remount the file system read-write and try again, or choose another directory (TEAMS_HOME). A disk that suddenly became read-only may be failing: see the system log.",
  EIO: "The disk or the network file system reports errors: see the system log, and copy your files to another disk.",
};

const HINTS: Readonly<Record<string, string>> = {
  ...STORAGE_HINTS,
  ENOTDIR:
    "A file is where a directory is needed. Name a directory, move the file away, or choose another directory (TEAMS_HOME).",
  EISDIR: "A directory is where a file is needed. Name a file, or move the directory away.",
  EMFILE: "Raise the limit of open files for each process (ulimit -n), and try again.",
  ENFILE: "Too many files are open on this machine: close programs, and try again.",
};

/** Returns the hint for a failed system call; a general one for an unknown code. */
export function systemErrorHint(error: unknown): string {
  return (
    HINTS[systemCode(error) ?? ""] ??
    "Check that you own the path and that its file system is writable, or choose another directory (TEAMS_HOME)."
  );
}

/** Returns the error code for a failed system call: a failure of the storage, or a refusal of the system. */
export function systemErrorCode(error: unknown): "STORAGE_ERROR" | "PERMISSION_DENIED" {
  return Object.hasOwn(STORAGE_HINTS, systemCode(error) ?? "") ? "STORAGE_ERROR" : "PERMISSION_DENIED";
}

/** Creates the error for a failed system call that no caller has explained. */
export function systemRefusal(error: NodeJS.ErrnoException): TeamError {
  const code = systemErrorCode(error);
  const part = code === "STORAGE_ERROR" ? "disk" : "system";
  return new TeamError(code, `The ${part} refused an operation (${messageOf(error)}).`, {
    hint: systemErrorHint(error),
    details: { errno: systemCode(error) },
    cause: error,
  });
}

/** Whether a file could not be read or written, as {@link fileAccessError} reports it. */
export function isFileAccessError(error: unknown): error is TeamError {
  return error instanceof TeamError && (error.code === "STORAGE_ERROR" || error.code === "PERMISSION_DENIED");
}

/** Creates the error for a file that cannot be read, written or removed. @param rest the state now, as the end of the sentence */
export function fileAccessError(
  path: string,
  verb: "read" | "written" | "removed",
  error: unknown,
  rest = "",
): TeamError {
  // Leave out the system call and its paths: the user may not know these files (a lock, a temporary file).
  const reason = messageOf(error).replace(/, [a-z]+( '.*)?$/s, "");
  return new TeamError(systemErrorCode(error), `${path} cannot be ${verb} (${reason})${rest}.`, {
    hint: systemErrorHint(error),
    details: { file: path, errno: systemCode(error) },
    cause: error,
  });
}

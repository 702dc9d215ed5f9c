import type { ProcessIdentity } from "../process-identity.ts";
import { type Guard, isFilled, isInteger, isNumber, isText, looseObject, oneOf, optional } from "./guard.ts";
import { isIdentity } from "./identity.ts";

/** How a verify command ended: `refused` by a deny rule of its owner, `not-started` if its directory or shell is missing. */
export type VerifyOutcome = "passed" | "failed" | "timed-out" | "refused" | "not-started";

/** One run of a task's verify command. */
export interface VerifyRun {
  readonly outcome: VerifyOutcome;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  /** HEAD of the directory when the command started. */
  readonly commit?: string | undefined;
  /** Changed and untracked files at that time. */
  readonly uncommitted?: number | undefined;
  /** The last lines of its output. */
  readonly tail: string;
  readonly directory: string;
  /** When it started, and how long it ran, in milliseconds. */
  readonly at: number;
  readonly ms: number;
  /** The member that said that the task is completed. */
  readonly by: string;
  /** The number of the completion that it proves. */
  readonly completion: number;
}

/** A task's verify command that a person confirmed, with its last run. */
export interface VerifyRecord {
  readonly command: string;
  readonly confirmedAt: number;
  readonly run?: VerifyRun | undefined;
  /** The process that runs the command now. */
  readonly running?: ProcessIdentity | undefined;
}

const OUTCOMES: Readonly<Record<VerifyOutcome, true>> = {
  passed: true,
  failed: true,
  "timed-out": true,
  refused: true,
  "not-started": true,
};

const isRun: Guard<VerifyRun> = looseObject<VerifyRun>({
  outcome: oneOf(OUTCOMES),
  exitCode: optional(isInteger),
  signal: optional(isText),
  commit: optional(isText),
  uncommitted: optional(isInteger),
  tail: isText,
  directory: isText,
  at: isNumber,
  ms: isNumber,
  by: isText,
  completion: isInteger,
});

export const isVerifyRecord = looseObject<VerifyRecord>({
  command: isFilled,
  confirmedAt: isNumber,
  run: optional(isRun),
  running: optional(isIdentity),
});

import { type ErrorCode, EXIT, messageOf, systemCode, systemRefusal, TeamError } from "../errors.ts";
import type { ShutdownReport } from "../operations/ending/shutdown.ts";
import type { ResumedMember } from "../operations/resume/resume.ts";
import { printableJson, stripControls } from "../text/terminal-text.ts";
import type { Io } from "./io.ts";
import { safeStyler, wantsColors } from "./output.ts";

/** A failure as it is reported to a user or script. */
interface Failure {
  /** A code of protocol.md section 9, or `INTERNAL` for a defect of this program. */
  readonly code: ErrorCode | "INTERNAL";
  readonly message: string;
  readonly hint: string | undefined;
  readonly exit: number;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** Converts any thrown value to a failure with a code. */
export function failureOf(error: unknown): Failure {
  if (error instanceof TeamError) {
    const { code, message, hint, exitCode: exit, details } = error;
    return { code, message, hint, exit, details };
  }
  if (/^E[A-Z0-9]+$/.test(systemCode(error) ?? ""))
    return failureOf(systemRefusal(error as NodeJS.ErrnoException));
  const hint = "This is a bug in teams. Run the command again with --verbose, and report its output.";
  return { code: "INTERNAL", message: messageOf(error), hint, exit: EXIT.failed };
}

/** Reports a failure on stderr, as JSON or as text. @returns the exit status */
export function report(
  error: unknown,
  io: Pick<Io, "err" | "env" | "terminal">,
  { json, verbose }: { readonly json: boolean; readonly verbose: boolean },
): number {
  const { code, message, hint, exit, details } = failureOf(error);
  if (json) {
    const body = { code, message, hint: hint ?? null, ...(details === undefined ? {} : { details }) };
    io.err(`${printableJson({ error: body })}\n`);
    return exit;
  }
  const styleText = safeStyler(wantsColors(io.env, io.terminal.stderr));
  io.err(
    `${styleText("teams:", "bad").styled} ${stripControls(message)} ${styleText(`(${code})`, "quiet").styled}\n`,
  );
  if (hint !== undefined) io.err(`${styleText("  hint:", "quiet").styled} ${stripControls(hint)}\n`);
  if (verbose && error instanceof Error) io.err(`${traceOf(error)}\n`);
  return exit;
}

/** Returns the stack of an error and of its causes. */
function traceOf(error: Error): string {
  const trace = stripControls(error.stack ?? error.message);
  return error.cause instanceof Error ? `${trace}\ncaused by ${traceOf(error.cause)}` : trace;
}

/** Returns the exit status of a command that shut members down: a timeout has precedence over a rejection. */
export function exitOfShutdowns(reports: readonly ShutdownReport[], interrupted: boolean): number {
  if (interrupted) return EXIT.interrupted;
  if (reports.some(({ outcome }) => outcome === "timed-out")) return EXIT.timedOut;
  return reports.some(({ outcome }) => outcome === "rejected") ? EXIT.failed : EXIT.done;
}

/** Returns the exit status of a command that restarts members: failed if one of them does not run. */
export function exitOfResume(members: readonly Pick<ResumedMember, "outcome">[]): number {
  return members.some(({ outcome }) => outcome === "failed" || outcome === "down") ? EXIT.failed : EXIT.done;
}

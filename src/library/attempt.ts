import { isSystemError, messageOf, systemCode, systemRefusal, TeamError } from "../errors.ts";

/**
 * Runs a call of the library. Every failure is a TeamError, except for a bug of this library and an error of the caller's own function.
 * @param work receives a new signal that follows the caller's, on which no listener remains
 */
export async function attempt<T>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  if (signal?.aborted) throw interrupted(signal, "Interrupted before the call began; nothing was done.");
  const own = signal === undefined ? new AbortController().signal : AbortSignal.any([signal]);
  try {
    return await work(own);
  } catch (error) {
    if (error instanceof CallerFailure) throw callersError(error.cause, signal);
    throw signal?.aborted ? withReason(error, signal) : asTeamError(error);
  }
}

/** Carries an error of the caller's own function through a call of the library. */
class CallerFailure extends Error {}

/** Runs a function of the caller within a call of the library, which throws the error of the function unchanged. */
export async function ofCaller<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new CallerFailure("A function of the caller failed.", { cause });
  }
}

/** Creates the error of an interrupted call, with the reason of the signal as its cause. */
export function interrupted(
  signal: AbortSignal,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): TeamError {
  return new TeamError("INTERRUPTED", message, {
    cause: signal.reason,
    ...(details === undefined ? {} : { details }),
  });
}

/** Returns an error of the caller's function unchanged, unless the function has thrown the reason of the signal. */
function callersError(error: unknown, signal: AbortSignal | undefined): unknown {
  return signal?.aborted && error === signal.reason ? callInterrupted(signal) : error;
}

/** Returns the error of a call whose signal has aborted: an interruption gets the reason of the signal; any other error is unchanged. */
function withReason(error: unknown, signal: AbortSignal): unknown {
  // Node throws a different error for an aborted program or timer.
  if (error === signal.reason || (error instanceof Error && error.name === "AbortError"))
    return callInterrupted(signal);
  if (!(error instanceof TeamError) || error.code !== "INTERRUPTED") return asTeamError(error);
  const { message, hint, details } = error;
  return new TeamError("INTERRUPTED", message, {
    cause: signal.reason,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  });
}

function callInterrupted(signal: AbortSignal): TeamError {
  return interrupted(signal, "The call was interrupted.");
}

function asTeamError(error: unknown): unknown {
  if (isNulRefused(error))
    return new TeamError("INVALID_INPUT", `Node refused a value: ${messageOf(error)}.`, {
      hint: "Remove the NUL characters from that value.",
      cause: error,
    });
  return isSystemError(error) ? systemRefusal(error) : error;
}

/** Whether Node refused a path, an argument or a variable because it contains a NUL character. */
function isNulRefused(error: unknown): boolean {
  return systemCode(error) === "ERR_INVALID_ARG_VALUE" && messageOf(error).includes("without null bytes");
}

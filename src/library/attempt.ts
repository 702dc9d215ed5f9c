import { isSystemError, messageOf, systemErrorCode, systemErrorHint, TeamError } from "../errors.ts";

/**
 * Runs a call of the library: every failure is a TeamError, except for a defect of this library.
 * @param work receives its own signal, so that no listener stays on the caller's signal
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
    if (signal?.aborted) throw withReason(error, signal);
    throw asTeamError(error);
  }
}

/** Makes the error of an interrupted call, with the reason of the signal as its cause. */
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

/** An error of a call that was interrupted; any other failure keeps its code. */
function withReason(error: unknown, signal: AbortSignal): unknown {
  if (error === signal.reason) return interrupted(signal, "The call was interrupted.");
  if (!(error instanceof TeamError) || error.code !== "INTERRUPTED") return asTeamError(error);
  const { message, hint, details } = error;
  return new TeamError("INTERRUPTED", message, {
    cause: signal.reason,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  });
}

function asTeamError(error: unknown): unknown {
  if (!isSystemError(error)) return error;
  return new TeamError(systemErrorCode(error), `The system refused it: ${messageOf(error)}.`, {
    hint: systemErrorHint(error),
    cause: error,
  });
}

/** Checks a time limit in milliseconds. @throws TeamError INVALID_INPUT */
export function requireMilliseconds(value: number | undefined, name: string): void {
  if (value === undefined || (Number.isFinite(value) && value >= 0)) return;
  throw new TeamError("INVALID_INPUT", `${name} cannot be ${value}; nothing was done.`, {
    hint: "Give a number of milliseconds.",
  });
}

/** Returns a time in milliseconds since the epoch. @throws TeamError INVALID_INPUT for an invalid date */
export function timeOf(value: Date | number | undefined): number | undefined {
  if (value === undefined) return undefined;
  const at = Number(value);
  if (Number.isFinite(at)) return at;
  throw new TeamError("INVALID_INPUT", "The time is invalid; nothing was done.", {
    hint: "Give a Date, or milliseconds since the epoch.",
  });
}

/** Checks metadata: keys that begin with `_` are those of programs. @throws TeamError INVALID_INPUT */
export function requireOpenKeys(metadata: Readonly<Record<string, unknown>> | undefined): void {
  const key = Object.keys(metadata ?? {}).find((one) => one.startsWith("_"));
  if (key === undefined) return;
  throw new TeamError("INVALID_INPUT", `The metadata cannot have the key ${key}; nothing was done.`, {
    hint: "Keys that begin with _ are reserved for programs. Use another key.",
  });
}

/** Checks a text that a member reads. @throws TeamError INVALID_INPUT */
export function requireText(text: string, what: string): void {
  if (text.trim() !== "") return;
  throw new TeamError("INVALID_INPUT", `The ${what} is empty; nothing was done.`);
}

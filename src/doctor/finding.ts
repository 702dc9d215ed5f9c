import { messageOf } from "../errors.ts";

/** One line of the doctor's report. */
export interface Finding {
  /** What was looked at: `tmux`, `runtime directory`. */
  readonly name: string;
  /** `warn`: it works without, less well. `fail`: it does not. */
  readonly level: "ok" | "warn" | "fail";
  /** What was found. */
  readonly text: string;
  /** What to do about it; none where all is well. */
  readonly remedy?: string;
}

export function ok(name: string, text: string): Finding {
  return { name, level: "ok", text };
}

export function warn(name: string, text: string, remedy: string): Finding {
  return { name, level: "warn", text, remedy };
}

export function fail(name: string, text: string, remedy: string): Finding {
  return { name, level: "fail", text, remedy };
}

/**
 * A check that may not be able to look: that is its own finding, and the others still run.
 * @param remedy what lets it look
 */
export async function attempt(
  name: string,
  check: () => Finding | Promise<Finding | readonly Finding[]>,
  remedy: string,
): Promise<readonly Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    return [fail(name, `cannot be looked at: ${messageOf(error)}`, remedy)];
  }
}

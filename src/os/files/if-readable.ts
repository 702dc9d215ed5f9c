import { isSystemError } from "../../errors.ts";

/**
 * Returns the result of `read`; undefined for a file that was removed meanwhile, or is in a closed directory or below a loop of links.
 * A command of an agent can cause these errors, and they must not end the agent.
 */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

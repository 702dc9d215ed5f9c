import { createContext, Script } from "node:vm";

const SCRIPT = new Script("work()");

/**
 * Returns a function that runs synchronous work and throws an Error if one call takes longer than `ms` milliseconds. For
 * patterns of users, which may take very long to match.
 */
export function timeLimit(ms: number): <T>(work: () => T) => T {
  const sandbox = createContext({});
  return <T>(work: () => T): T => {
    sandbox.work = work;
    return SCRIPT.runInContext(sandbox, { timeout: ms }) as T;
  };
}

/** Whether an error says that the work took too long. */
export function isTimeLimitError(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}

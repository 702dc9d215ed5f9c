import { createContext, Script } from "node:vm";

const SCRIPT = new Script("work()");

/**
 * Runs synchronous work, one piece after the other, where a pattern that somebody wrote decides how long it takes: each
 * piece may take so many milliseconds. What it gives back throws an Error when one takes longer.
 */
export function timeLimit(ms: number): <T>(work: () => T) => T {
  const sandbox = createContext({});
  return <T>(work: () => T): T => {
    sandbox.work = work;
    return SCRIPT.runInContext(sandbox, { timeout: ms }) as T;
  };
}

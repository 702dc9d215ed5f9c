import { AsyncLocalStorage } from "node:async_hooks";

/** In whose name code runs, where several agents live in one process. */
interface CurrentAgent {
  /** `name@team`. */
  readonly agentId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears of an error that nothing in its code has caught; it must not throw. */
  failed(error: unknown): void;
}

const current = new AsyncLocalStorage<CurrentAgent>();

/** Does the work, and all that it leaves behind (timers, streams, promises), in an agent's name. */
export function runAsAgent<T>(agent: CurrentAgent, work: () => T): T {
  return current.run(agent, work);
}

/** Undefined in a process that is one agent's alone, and in what belongs to the process itself. */
export function currentAgent(): CurrentAgent | undefined {
  return current.getStore();
}

/**
 * Lets an error that nobody caught end the agent in whose code it was thrown, instead of this process; one that is nobody's
 * ends the process as ever.
 * @returns ends that
 */
export function containErrors(): () => void {
  const listener = (error: unknown): void => {
    const agent = currentAgent();
    if (agent === undefined) throw error;
    agent.failed(error);
  };
  process.on("uncaughtException", listener);
  return () => void process.off("uncaughtException", listener);
}

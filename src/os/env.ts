import { AsyncLocalStorage } from "node:async_hooks";

/** The agent that code belongs to, if several agents run in one process. */
interface CurrentAgent {
  /** `name@team`. */
  readonly agentId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives an uncaught error of the agent's code; it must not throw. */
  failed(error: unknown): void;
}

const current = new AsyncLocalStorage<CurrentAgent>();

/** Runs `work` in the scope of an agent, which its timers, streams and promises inherit. */
export function runAsAgent<T>(agent: CurrentAgent, work: () => T): T {
  return current.run(agent, work);
}

/** Returns the agent that this code belongs to; undefined for code of the process itself, and in a process with one agent. */
export function currentAgent(): CurrentAgent | undefined {
  return current.getStore();
}

/**
 * Makes an uncaught error end the agent whose code threw it, instead of this process. An error of other code still ends
 * the process.
 * @returns a function that removes the handler
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

/** Environment variables, passed as an argument; only the composition root reads the real ones. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Returns a copy of this process's environment or, in the scope of an agent, of that agent's own. */
export function processEnv(): Env {
  return { ...(currentAgent()?.env ?? process.env) };
}

/** Removes variables from this process, so that child processes do not inherit them. */
export function forgetEnv(names: readonly string[]): void {
  for (const name of names) delete process.env[name];
}

export const platform: NodeJS.Platform = process.platform;

/** Whether the locale uses UTF-8; true without a locale. */
export function hasUtf8({ LC_ALL, LC_CTYPE, LANG }: Env): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return locale === "" || /utf-?8/i.test(locale);
}

import { currentAgent } from "./agent-scope.ts";

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

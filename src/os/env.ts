import { currentAgent } from "./agent-scope.ts";

/** Environment variables as values: code gets them as an argument, the composition root reads the real ones. */
export type Env = Readonly<Record<string, string | undefined>>;

/** A copy of this process's environment; of an agent that lives in it with others, its own. */
export function processEnv(): Env {
  return { ...(currentAgent()?.env ?? process.env) };
}

/** Takes variables out of this process, so that nothing it starts inherits them. */
export function forgetEnv(names: readonly string[]): void {
  for (const name of names) delete process.env[name];
}

export const platform: NodeJS.Platform = process.platform;

import type { Env } from "../os/env.ts";

/** Asks an agent for its debug log; its teammates inherit it. */
export const DEBUG_VARIABLE = "TEAMS_DEBUG";

export function wantsDebugLog(env: Env): boolean {
  const value = env[DEBUG_VARIABLE];
  return value !== undefined && value !== "" && value !== "0";
}

import type { Env } from "../os/env.ts";

/**
 * Makes an agent write a debug log; its teammates inherit the variable. A separate file, so that commands can check it without
 * loading the log.
 */
export const DEBUG_VARIABLE = "TEAMS_DEBUG";

export function wantsDebugLog(env: Env): boolean {
  const value = env[DEBUG_VARIABLE];
  return value !== undefined && value !== "" && value !== "0";
}

import type { Env } from "../os/env.ts";
import { loadSettings } from "./settings.ts";

/** Returns the variables that the settings add for agents; none if the settings cannot be read. */
export function settingsEnv(root: string, cwd: string): Env {
  try {
    return loadSettings(root, cwd).env;
  } catch {
    // teams doctor reports it.
    return {};
  }
}

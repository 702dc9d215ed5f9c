import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { findProgram } from "../os/files/access.ts";
import type { Adapter } from "./adapter-schema.ts";

/** Returns the program of a CLI. @throws TeamError SPAWN_FAILED with the command that installs it; nothing is ever downloaded */
export function requireProgram({ id, command, install }: Adapter, env: Env): string {
  const found = findProgram(command, env);
  if (found !== undefined) return found;
  const how = install === undefined ? "Install it" : `Install it: ${install}`;
  throw new TeamError("SPAWN_FAILED", `${command} is not installed, so ${id} was not started.`, {
    hint: `${how}. teams never downloads a CLI itself.`,
  });
}

/**
 * Returns the error for a CLI that did not start.
 * @param needs the features that the program must have, as sentences
 */
export function notStarted(
  { id, command, args }: Adapter,
  why: string,
  { needs, cause }: { readonly needs?: string; readonly cause?: unknown } = {},
): TeamError {
  const hint = `Run it yourself to see its error: ${[command, ...args].join(" ")}`;
  return new TeamError("SPAWN_FAILED", `${id} did not start: ${why}`, {
    hint: needs === undefined ? hint : `${hint}. ${needs}`,
    cause,
  });
}

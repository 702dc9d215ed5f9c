import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { findSandbox, type NoSandbox } from "../../os/sandbox/find-sandbox.ts";

/** Checks that this machine has a sandbox, before an agent that needs one is started. @throws TeamError SPAWN_FAILED */
export async function requireSandbox(name: string, env: Env): Promise<void> {
  const found = await findSandbox(env);
  if ("reason" in found) throw noSandboxError(name, found);
}

export function noSandboxError(name: string, { reason, remedy }: NoSandbox): TeamError {
  return new TeamError("SPAWN_FAILED", `The sandbox is required, but ${reason}; ${name} was not started.`, {
    hint: remedy,
  });
}

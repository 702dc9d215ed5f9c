import type { Env } from "../os/env.ts";

/**
 * The environment of a command that an agent, a hook or a server of tools runs: the key to the model is no business of it
 * (protocol.md section 6).
 * @param passed names of those that it may have all the same (`teams.passSecrets`)
 */
export function withoutCredentials(env: Env, passed: readonly string[] = []): Env {
  const secret = /^ANTHROPIC_(.*(KEY|TOKEN|SECRET|PASSWORD)|CUSTOM_HEADERS)$/i;
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => passed.includes(name) || !secret.test(name)),
  );
}

import type { Env } from "../os/env.ts";

/** The environment of a command that an agent or a hook runs: the key to the model is no business of it (protocol.md section 6). */
export function withoutCredentials(env: Env): Env {
  const secret = /^ANTHROPIC_(.*(KEY|TOKEN|SECRET|PASSWORD)|CUSTOM_HEADERS)$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.test(name)));
}

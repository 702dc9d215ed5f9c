import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";

/** The model that plays a playbook: `scripted` is the built-in one, `scripted:<file>` a given one. */
export const SCRIPTED = "scripted";
/** What a key without a word about the model gives. */
const WITH_A_KEY = "sonnet";

/** Short names of models; settings may change them and add others (`teams.models`). */
export const MODEL_NAMES: Readonly<Record<string, string>> = {
  haiku: "claude-haiku-5-5",
  sonnet: "claude-sonnet-5-5",
  opus: "claude-opus-5-5",
};

/** What an id may hold; a base URL may serve any model (protocol.md section 6). */
const MODEL_ID = /^[\w.:/@[\]-]+$/;

/**
 * The id that a server knows a model by.
 * @param table short names of the user's, before ours
 * @throws TeamError INVALID_MODEL
 */
export function resolveModelName(name: string, table: Readonly<Record<string, string>> = {}): string {
  const own = Object.hasOwn(table, name) ? table[name] : undefined;
  const id = own ?? (Object.hasOwn(MODEL_NAMES, name) ? MODEL_NAMES[name] : undefined) ?? name;
  if (MODEL_ID.test(id)) return id;
  throw new TeamError("INVALID_MODEL", `${JSON.stringify(id)} cannot be a model's name.`, {
    hint: `Use ${Object.keys({ ...MODEL_NAMES, ...table }).join(", ")}, scripted, or an id that your server knows.`,
  });
}

/** The model where none is named: a real one where a key, a token or a base URL is set, else the scripted one (product.md). */
export function defaultModelName(env: Env): string {
  return env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN || env.ANTHROPIC_BASE_URL ? WITH_A_KEY : SCRIPTED;
}

export function isScripted(model: string): boolean {
  return model === SCRIPTED || model.startsWith(`${SCRIPTED}:`);
}

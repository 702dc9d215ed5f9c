import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";

/** The model that plays a playbook: `scripted` plays the built-in one, `scripted:<file>` plays a file. */
export const SCRIPTED = "scripted";
/** The default model if there is a key. */
const WITH_A_KEY = "sonnet";

/** Short names of models; the setting `teams.models` may change them and add others. */
export const MODEL_NAMES: Readonly<Record<string, string>> = {
  haiku: "claude-haiku-5-5",
  sonnet: "claude-sonnet-5-5",
  opus: "claude-opus-5-5",
};

/** Characters of an id; a base URL may serve any model (protocol.md section 6). */
const MODEL_ID = /^[\w.:/@[\]-]+$/;

/**
 * Returns the id by which a server knows a model.
 * @param table the user's short names, which override the built-in names
 * @throws TeamError INVALID_MODEL
 */
export function resolveModelName(name: string, table: Readonly<Record<string, string>> = {}): string {
  const own = Object.hasOwn(table, name) ? table[name] : undefined;
  const id = own ?? (Object.hasOwn(MODEL_NAMES, name) ? MODEL_NAMES[name] : undefined) ?? name;
  if (MODEL_ID.test(id)) return id;
  throw new TeamError("INVALID_MODEL", `${JSON.stringify(id)} is not a valid model name.`, {
    hint: `Use ${Object.keys({ ...MODEL_NAMES, ...table }).join(", ")}, scripted, or an id that your server knows.`,
    details: { model: name },
  });
}

/**
 * Returns the names that a model's facts may have in the user's settings: the given name, then the short names of its id. A spawned
 * agent has only the id.
 */
export function namesOfModel(
  model: string,
  id: string,
  table: Readonly<Record<string, string>>,
): readonly string[] {
  const short = Object.entries({ ...MODEL_NAMES, ...table }).filter(([, named]) => named === id);
  return [model, ...short.map(([name]) => name)];
}

/** Returns the default model: a real one if a key, a token or a base URL is set, else `scripted` (product.md). */
export function defaultModelName(env: Env): string {
  return env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN || env.ANTHROPIC_BASE_URL ? WITH_A_KEY : SCRIPTED;
}

export function isScripted(model: string): boolean {
  return model === SCRIPTED || model.startsWith(`${SCRIPTED}:`);
}

import { TeamError } from "../../errors.ts";

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

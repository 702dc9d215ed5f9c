import { defaultModelName, isScripted, resolveModelName } from "../agent/model/resolve-name.ts";
import { BUILTIN_AGENT_TYPES, DEFAULT_AGENT_TYPE } from "../agent/prompts/agent-types.ts";
import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";

/** The agent type of a spawn. @throws TeamError INVALID_TYPE, with the types that there are */
export function spawnType(given: string | undefined): string {
  if (given === undefined) return DEFAULT_AGENT_TYPE;
  const known = BUILTIN_AGENT_TYPES.find(({ name }) => name.toLowerCase() === given.toLowerCase());
  if (known !== undefined) return known.name;
  throw new TeamError(
    "INVALID_TYPE",
    `There is no agent type ${JSON.stringify(given)}; nothing was started.`,
    {
      hint: `Types: ${BUILTIN_AGENT_TYPES.map(({ name }) => name).join(", ")}.`,
    },
  );
}

/**
 * The model of a spawn: as given, or with `inherit` and without a word the lead's; a lead that is a person has none, and
 * the environment decides. @throws TeamError INVALID_MODEL
 */
export function spawnModel(given: string | undefined, leads: string | undefined, env: Env): string {
  const name = given === undefined || given === "inherit" ? (leads ?? defaultModelName(env)) : given;
  // A playbook's path may hold anything; every other name becomes part of a request.
  if (!isScripted(name)) resolveModelName(name);
  return name;
}

import { defaultModelName, isScripted, resolveModelName } from "../../agent/model/model-names.ts";
import {
  type AgentType,
  type AgentTypes,
  DEFAULT_AGENT_TYPE,
  findAgentType,
  ONLY_BUILTIN_TYPES,
} from "../../agent/prompts/agent-types.ts";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { exceeds } from "../permission-mode.ts";

/**
 * The agent type of a spawn.
 * @throws TeamError INVALID_TYPE, with the types that there are, and why a file with this name is none
 */
export function spawnType(given: string | undefined, known: AgentTypes = ONLY_BUILTIN_TYPES): AgentType {
  const found = findAgentType(given ?? DEFAULT_AGENT_TYPE, known.types);
  if (found !== undefined) return found;
  const names = known.types.map(({ name }) => name).join(", ");
  throw new TeamError("INVALID_TYPE", `There is no agent type ${JSON.stringify(given)}; nothing was made.`, {
    hint: [...aboutFiles(given ?? "", known), `Types: ${names}.`].join("\n"),
  });
}

/** What is known of files that may be meant. */
function aboutFiles(given: string, { problems: flaws, ignored }: AgentTypes): string[] {
  const untrusted = ignored.find((path) => path.toLowerCase().endsWith(`/${given.toLowerCase()}.md`));
  if (untrusted === undefined) return flaws.map((flaw) => `No type: ${flaw}.`);
  const project = untrusted.replace(/\/\.claude\/agents\/[^/]*$/, "");
  return [`${untrusted} counts only after: teams trust ${shellWord(project)}`];
}

/**
 * The model of a spawn: as given, else the type's; with `inherit` and without a word the lead's; a lead that is a person has
 * none, and the environment decides. @throws TeamError INVALID_MODEL
 */
export function spawnModel(
  given: string | undefined,
  leads: string | undefined,
  env: Env,
  types?: string | undefined,
): string {
  const wanted = given ?? types;
  const name = wanted === undefined || wanted === "inherit" ? (leads ?? defaultModelName(env)) : wanted;
  // A playbook's path may hold anything; every other name becomes part of a request.
  if (!isScripted(name)) resolveModelName(name);
  return name;
}

/** What a spawner says of a teammate's rights, and what it may say. */
interface WantedRights {
  readonly name: string;
  readonly permissionMode?: PermissionMode | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** The most that it can give, where it is a lead's model: its own mode. A person can give any (protocol.md section 6). */
  readonly most?: PermissionMode | undefined;
  /** Why bypassPermissions is not to be had. */
  readonly forbidden?: string | undefined;
}

/**
 * The mode of a spawn: as given, else the type's, else the lead's. A type gives no more than whoever names it could.
 * @throws TeamError PERMISSION_DENIED for what a lead's model asks beyond its own rights, and for what is forbidden
 */
export function spawnMode(
  { name, permissionMode, allowedTools, most, forbidden }: WantedRights,
  leads: PermissionMode,
  types?: PermissionMode | undefined,
): PermissionMode {
  const lacks = (mode: PermissionMode): boolean => mode === "bypassPermissions" && forbidden !== undefined;
  if (permissionMode !== undefined && lacks(permissionMode)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `bypassPermissions is forbidden by ${forbidden}; ${name} was not started.`,
      { hint: "Name another: --permission-mode acceptEdits" },
    );
  }
  const beyond = (mode: PermissionMode): boolean => most !== undefined && exceeds(mode, most);
  if (permissionMode !== undefined && beyond(permissionMode)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${most} and cannot start ${name} in ${permissionMode}.`,
      { hint: "Leave the mode out: the teammate then has yours." },
    );
  }
  if (allowedTools?.length && beyond("bypassPermissions")) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${most} and cannot let ${name} use ${allowedTools.join(", ")} unasked.`,
      { hint: "Leave the allowed tools out: the teammate then asks where you would be asked." },
    );
  }
  const mode = permissionMode ?? (types === undefined || beyond(types) || lacks(types) ? leads : types);
  return mode === "delegate" || lacks(mode) ? "default" : mode;
}

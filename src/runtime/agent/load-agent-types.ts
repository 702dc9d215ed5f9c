import { join } from "node:path";
import type { PermissionRules } from "../../agent/permissions/rules.ts";
import {
  type AgentType,
  type AgentTypes,
  findAgentType,
  ONLY_BUILTIN_TYPES,
} from "../../agent/prompts/agent-types.ts";
import type { Notes } from "../../agent/prompts/type-notes.ts";
import type { Env } from "../../os/env.ts";
import { projectTypeFiles, typeFiles } from "../../settings/settings-files.ts";
import { trustDecision } from "../../settings/trust.ts";

/**
 * The agent types that count in a directory: the built-in ones, over them the user's, over those the project's where a
 * person has trusted it (protocol.md section 1).
 */
export async function agentTypesIn(root: string, directory: string): Promise<AgentTypes> {
  const own = typeFiles(join(root, "agents"));
  const project = projectTypeFiles(root, directory);
  const isTrusted = project.length > 0 && trustDecision(root, directory) === true;
  const files = [...own, ...(isTrusted ? project : [])];
  const ignored = isTrusted
    ? []
    : project.flatMap((one) => one.names.map((name) => join(one.directory, name)));
  // YAML is read by nobody who has no such file.
  if (files.length === 0) return { ...ONLY_BUILTIN_TYPES, ignored };
  const { readAgentTypes } = await import("../../agent/prompts/agent-type-files.ts");
  return { ...readAgentTypes(files), ignored };
}

/** The types that count for an agent, the notes of its own, and where those of a project lie. */
interface OwnType {
  readonly types: readonly AgentType[];
  readonly notes: Notes | undefined;
  readonly notesIn: string;
  /** Rules for what no agent of the type may do. */
  readonly never: readonly string[];
}

/** Whose type it is, where it works, and what it may read. */
interface TypeOf {
  readonly name: string;
  readonly root: string;
  readonly cwd: string;
  readonly env: Env;
  /** Whose types count for it. */
  readonly directory: string;
  readonly rules: PermissionRules;
  /** Rules of its own for what it may not do. */
  readonly denied?: readonly string[] | undefined;
}

/**
 * What an agent has of its type, and the others that it can name.
 * @param tell says, one line for each, what cannot be had and why
 */
export async function openType(of: TypeOf, tell: (line: string) => void): Promise<OwnType> {
  const { name, root, directory, rules, denied = [] } = of;
  const { types, problems } = await agentTypesIn(root, directory);
  for (const flaw of problems) tell(`no agent type: ${flaw}`);
  const type = findAgentType(name, types);
  if (type === undefined) tell(`there is no agent type ${name}: this agent works as general-purpose`);
  const own = { types, notesIn: directory, never: type?.disallowedTools ?? [] };
  if (type?.memory === undefined) return { ...own, notes: undefined };
  const { openNotes } = await import("../../agent/prompts/type-notes.ts");
  const { readDenialsOf } = await import("./read-denials.ts");
  const notes = openNotes(type, root, directory, readDenialsOf(of, rules, [...own.never, ...denied]));
  if (notes === undefined || "directory" in notes) return { ...own, notes };
  tell(notes.problem);
  return { ...own, notes: undefined };
}

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
import { agentPart } from "../../settings/project-parts.ts";
import { projectTypeFiles, typeFiles } from "../../settings/settings-files.ts";
import { confirmationsIn } from "../../settings/trust.ts";

/**
 * Returns the agent types of a directory: the built-in ones, overridden by the user's, overridden by the project's if the
 * user trusts it (protocol.md section 1).
 */
export async function agentTypesIn(root: string, directory: string): Promise<AgentTypes> {
  const own = typeFiles(join(root, "agents"));
  const project = projectTypeFiles(root, directory);
  const confirmations = project.length > 0 ? confirmationsIn(root, directory) : undefined;
  const isTrusted = confirmations?.decision === true;
  const isConfirmed = (name: string, text: string): boolean =>
    confirmations?.isConfirmed(agentPart(name, text)) === true;
  const files = [...own, ...(isTrusted ? project.map((one) => ({ ...one, isConfirmed })) : [])];
  const ignored = isTrusted
    ? []
    : project.flatMap(({ directory: parent, names }) => names.map((name) => join(parent, name)));
  // Without a file, the YAML parser is not loaded.
  if (files.length === 0) return { ...ONLY_BUILTIN_TYPES, ignored };
  const { readAgentTypes } = await import("../../agent/prompts/agent-type-files.ts");
  const read = readAgentTypes(files);
  return { ...read, ignored: [...ignored, ...read.ignored] };
}

/** The agent types that an agent can name, and the notes of its type. */
interface OpenedType {
  readonly types: readonly AgentType[];
  readonly notes: Notes | undefined;
  /** The project whose notes its types use. */
  readonly notesDirectory: string;
  /** Deny rules of its type. */
  readonly typeDenials: readonly string[];
}

interface TypeRequest {
  readonly name: string;
  readonly root: string;
  readonly cwd: string;
  readonly env: Env;
  /** The directory whose agent types apply. */
  readonly directory: string;
  readonly rules: PermissionRules;
  /** Additional deny rules of this agent. */
  readonly denied?: readonly string[] | undefined;
}

/**
 * Loads the type of an agent with its notes, and the types of subagents that it can name.
 * @param note reports each type or note that is not available, one line with the reason
 */
export async function openAgentType(request: TypeRequest, note: (line: string) => void): Promise<OpenedType> {
  const { name, root, directory, rules, denied = [] } = request;
  const { types, problems } = await agentTypesIn(root, directory);
  for (const problem of problems) note(`ignored agent type: ${problem}`);
  const type = findAgentType(name, types);
  if (type === undefined) note(`there is no agent type ${name}: this agent uses general-purpose`);
  const own = { types, notesDirectory: directory, typeDenials: type?.disallowedTools ?? [] };
  if (type?.memory === undefined) return { ...own, notes: undefined };
  const { openNotes } = await import("../../agent/prompts/type-notes.ts");
  const { readDenialsOf } = await import("./read-denials.ts");
  const notes = openNotes(
    type,
    root,
    directory,
    readDenialsOf(request, rules, [...own.typeDenials, ...denied]),
  );
  if (notes === undefined || "directory" in notes) return { ...own, notes };
  note(notes.problem);
  return { ...own, notes: undefined };
}

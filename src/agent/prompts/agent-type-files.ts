import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { COLORS, permissionMode } from "../../schema/config.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { SANDBOX_MODES, type SandboxMode } from "../../schema/permission-modes.ts";
import { toolList } from "../../schema/tool-names.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import { isScripted, resolveModelName } from "../model/model-names.ts";
import { isInside } from "../permissions/protected-paths.ts";
import { parseRule } from "../permissions/rules.ts";
import { readTextFile } from "../tools/text-file.ts";
import {
  type AgentType,
  agentTypeOrGeneral,
  BUILTIN_AGENT_TYPES,
  DEFAULT_AGENT_TYPE,
  type NotesScope,
} from "./agent-types.ts";
import { readDocument, textOfField } from "./front-matter.ts";

/** The agent type files of one directory. */
export interface TypeFiles {
  readonly directory: string;
  readonly names: readonly string[];
  /** Links must not lead out of this directory. Undefined for the user's own files, which may be links to anywhere. */
  readonly inside?: string;
  /** Whether the user has confirmed a file with this text. Undefined for the user's own files. */
  readonly isConfirmed?: (name: string, text: string) => boolean;
}

/** Maximum types from files, and characters of a description, because each call of a lead's model pays for the list. */
const MAX_TYPES = 100;
const MAX_DESCRIPTION = 500;
/** Maximum characters of a system prompt, because each model call of its agents pays for it. */
const MAX_PROMPT = 100_000;
const MODES = "default, acceptEdits, plan, bypassPermissions or dontAsk";

/**
 * Returns the built-in types and the types of the directories. A later type replaces an earlier one of the same name, ignoring
 * case. An invalid file is reported and replaces nothing.
 */
export function readAgentTypes(directories: readonly TypeFiles[]): {
  readonly types: readonly AgentType[];
  readonly problems: readonly string[];
  /** Paths of files that the user has not confirmed. */
  readonly ignored: readonly string[];
} {
  const types = new Map(BUILTIN_AGENT_TYPES.map((type) => [type.name.toLowerCase(), type]));
  const problems: string[] = [];
  const ignored: string[] = [];
  let read = 0;
  for (const { directory, names, inside, isConfirmed } of directories) {
    for (const name of names) {
      const path = join(directory, name);
      try {
        if (read === MAX_TYPES) throw new Error(`left out: the limit is ${MAX_TYPES} types`);
        const type = typeIn(path, inside, (text) => isConfirmed?.(name, text) ?? true);
        if (type === undefined) {
          ignored.push(path);
          continue;
        }
        types.set(type.name.toLowerCase(), type);
        read += 1;
      } catch (error) {
        problems.push(`${path}: ${messageOf(error)}`);
      }
    }
  }
  return { types: [...types.values()], problems, ignored };
}

/** @returns undefined if the user has not confirmed the text of the file */
function typeIn(
  path: string,
  inside: string | undefined,
  isConfirmed: (text: string) => boolean,
): AgentType | undefined {
  if (inside !== undefined && !isInside(realPathOf(path), realPathOf(inside)))
    throw new Error(`it is a link out of ${inside}`);
  const file = readTextFile(path);
  if (file.problem !== undefined) throw new Error(file.problem);
  // Otherwise its rules would name other files.
  if (!file.isUtf8) throw new Error("it is not UTF-8; save it again as UTF-8");
  if (!isConfirmed(file.text)) return undefined;
  const { matter, body } = readDocument(file.text);
  if (body.length > MAX_PROMPT) throw new Error(`its text is longer than ${MAX_PROMPT} characters`);
  return {
    name: nameIn(matter.name),
    description: cutText((textOfField(matter.description) ?? "").replace(/\s+/g, " "), MAX_DESCRIPTION),
    tools: toolsIn(matter.tools),
    disallowedTools: rulesIn("disallowedTools", matter.disallowedTools),
    model: modelIn(matter.model),
    permissionMode: modeIn(matter.permissionMode),
    sandbox: sandboxIn(matter.sandbox),
    cli: cliIn(matter.cli),
    effort: effortIn(matter.effort),
    color: COLORS.find((color) => color === matter.color),
    memory: scopeIn(matter.memory),
    prompt: agentTypeOrGeneral(DEFAULT_AGENT_TYPE).prompt,
    custom: body === "" ? undefined : body,
    file: path,
  };
}

/** Returns a valid name: it is used in command lines, in paths and in lists for models. */
function nameIn(value: unknown): string {
  const name = textOfField(value);
  if (name === undefined) throw new Error("its front matter has no name");
  if (/^[\p{L}\p{N}][\p{L}\p{N}_.:-]{0,63}$/u.test(name)) return name;
  throw new Error(`${JSON.stringify(name)} cannot be the name of a type`);
}

/** Returns the names of the tools. Rejects a pattern, because it would have no effect but look like a restriction. */
function toolsIn(value: unknown): readonly string[] | undefined {
  const names = rulesIn("tools", value);
  const rule = names?.find((name) => parseRule(name)?.pattern !== undefined || !/^[\w.*-]+$/.test(name));
  if (rule === undefined) return names;
  throw new Error(`its tools must be names, but ${JSON.stringify(rule)} is not a name`);
}

/** Returns a list of rules. Rejects an unclear list, because a misread list could grant more rights. */
function rulesIn(field: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === "string" ? [value] : value;
  const isList = Array.isArray(list) && list.every((one): one is string => typeof one === "string");
  const rules = isList ? toolList(list) : undefined;
  if (rules === undefined || rules.some((rule) => parseRule(rule) === undefined))
    throw new Error(`its ${field} must be a list of tools`);
  return rules;
}

function modelIn(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const name = textOfField(value);
  if (name === undefined) throw new Error("its model must be a name");
  if (name !== "inherit" && !isScripted(name)) resolveModelName(name);
  return name;
}

function modeIn(value: unknown): PermissionMode | undefined {
  if (value === undefined) return undefined;
  const { data } = permissionMode.safeParse(value);
  if (data !== undefined && data !== "delegate") return data;
  throw new Error(`its permissionMode must be ${MODES}`);
}

function sandboxIn(value: unknown): SandboxMode | undefined {
  if (value === undefined) return undefined;
  // YAML 1.1 reads off as false.
  const mode = SANDBOX_MODES.find((one) => one === (value === false ? "off" : value));
  if (mode !== undefined) return mode;
  throw new Error(`its sandbox must be ${SANDBOX_MODES.join(", ")}`);
}

/** Checks only the form: the settings of a directory can name additional CLIs. */
function cliIn(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^[a-z0-9][a-z0-9-]{0,63}$/.test(value)) return value;
  throw new Error("its cli must be the name of a CLI, such as codex");
}

/** Checks only the form: the levels differ between CLIs. */
function effortIn(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const level = textOfField(value);
  if (level !== undefined) return level;
  throw new Error("its effort must be a level, such as high");
}

function scopeIn(value: unknown): NotesScope | undefined {
  if (value === undefined) return undefined;
  if (value === "user" || value === "project" || value === "local") return value;
  throw new Error("its memory must be user, project or local");
}

import { basename, join } from "node:path";
import { isInside } from "../agent/permissions/protected-paths.ts";
import { FRONT_MATTER } from "../agent/prompts/front-matter.ts";
import type { SkillPlaces } from "../agent/prompts/skill-directories.ts";
import { readTextFile } from "../agent/tools/text-file.ts";
import { isSystemError, TeamError } from "../errors.ts";
import { entryOf } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { redactText, secretsOf } from "../os/redact.ts";
import { cutText } from "../text/characters/cut-text.ts";
import { lineOfError } from "./json-place.ts";
import { readServers, serverPart } from "./mcp-servers.ts";
import {
  BYPASS_FORBIDDEN,
  filterSettings,
  forbidsBypass,
  isObject,
  type Raw,
  RESTRICTION_KEYS,
} from "./setting-parts.ts";
import { existingProjectFiles, projectTypeFiles } from "./settings-files.ts";
import { readSettingsText, requireUtf8 } from "./settings-text.ts";
import { confirmationsIn, type PartOfFile } from "./trust.ts";

/** Parses a settings file; undefined if it does not exist or is empty. @throws TeamError CORRUPT_FILE */
export function readRaw(file: string): unknown {
  const text = readSettingsText(file);
  if (text === undefined) return undefined;
  requireUtf8(file, text);
  return parsed(file, text);
}

/** @throws TeamError CORRUPT_FILE */
function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const line = lineOfError(text);
    const where = line === undefined ? "" : ` (line ${line})`;
    throw new TeamError("CORRUPT_FILE", `${file} is not JSON${where}.`, {
      hint: "Correct it (often a missing or extra comma, or a comment); the file was not changed.",
      cause,
    });
  }
}

/**
 * Reads an untrusted project's file. Invalid JSON is not an error here, only an ignored entry. In an encoding other than UTF-8, the readable
 * restrictions still apply.
 */
export function readUntrusted(file: string): Raw {
  try {
    const raw = parsed(file, readSettingsText(file) ?? "{}");
    return isObject(raw) ? raw : {};
  } catch (error) {
    if (error instanceof TeamError) return { "not readable as JSON": true };
    throw error;
  }
}

/** The path of a settings file relative to the directory of its agents; the local file of the main worktree has the same one. */
export function settingsPlace(file: string): string {
  return join(".claude", basename(file));
}

/** Returns the parts of a project's files other than its settings: the servers of `.mcp.json`, and the agent files. */
export function otherParts(root: string, cwd: string): PartOfFile[] {
  // Problems of an invalid file are reported when its servers start.
  const servers = Object.entries(readServers(join(cwd, ".mcp.json"), []));
  const types = projectTypeFiles(root, cwd).flatMap(({ names }) => names);
  return [
    ...servers.map(([name, value]) => serverPart(name, value)),
    ...types.flatMap((name) => {
      const text = textInside(join(cwd, ".claude", "agents", name), cwd);
      return text === undefined ? [] : [agentPart(name, text)];
    }),
  ];
}

/** Reads a text file of a project; undefined if it cannot be read, or is a link that leads out of the project. */
function textInside(path: string, cwd: string): string | undefined {
  try {
    if (!isInside(realPathOf(path), realPathOf(cwd))) return undefined;
    const read = readTextFile(path);
    return read.problem === undefined ? read.text : undefined;
  } catch (error) {
    // The reader of agent types reports it.
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

export function agentPart(name: string, text: string): PartOfFile {
  return { file: join(".claude", "agents", name), label: "agent", key: "file", value: text };
}

/** @param file its path in the project */
export function skillPart(file: string, text: string): PartOfFile {
  return { file, label: "skill", key: "file", value: text };
}

/**
 * Returns what a confirmation of a directory would add: the parts of its files that the user has not confirmed with this
 * content. Skills count only if they replace a skill of the user.
 */
export async function unconfirmedParts(places: SkillPlaces): Promise<readonly PartOfFile[]> {
  const { root, cwd } = places;
  const { isConfirmed } = confirmationsIn(root, cwd);
  const settings = existingProjectFiles(root, cwd).flatMap((path) => {
    const file = settingsPlace(path);
    return filterSettings(readUntrusted(path), () => false).removed.map((part) => ({ ...part, file }));
  });
  const { replacingSkills } = await import("../agent/prompts/skills.ts");
  const skills = replacingSkills(places).map(({ file, text }) => skillPart(file, text));
  return [...settings, ...otherParts(root, cwd), ...skills].filter((part) => !isConfirmed(part));
}

/** Lists a project's files that need trust, except its settings files. */
export function otherProjectFiles(root: string, cwd: string): string[] {
  const servers = join(cwd, ".mcp.json");
  return [
    ...(entryOf(servers) === undefined ? [] : [servers]),
    ...projectTypeFiles(root, cwd).map(({ directory, names }) => `${directory}: ${names.join(", ")}`),
  ];
}

/** Lists the ignored parts, one line for each file. */
export function ignoredParts(parts: readonly PartOfFile[]): string[] {
  return [...new Set(parts.map(({ file }) => file))].map((file) => {
    const labels = new Set(parts.flatMap((part) => (part.file === file ? [part.label] : [])));
    return `${file}: ${[...labels].join(", ")}`;
  });
}

export function restrictionsOf(raw: Raw): Raw {
  const given = isObject(raw.permissions) ? raw.permissions : {};
  const lists = RESTRICTION_KEYS.map((key) => {
    const list = given[key];
    return [key, Array.isArray(list) ? list.filter((rule) => typeof rule === "string") : []];
  });
  return { permissions: { ...Object.fromEntries(lists), ...(forbidsBypass(given) && BYPASS_FORBIDDEN) } };
}

/** Lists the ignored keys of an untrusted project's settings file. */
export function ignoredKeys(file: string, raw: Raw): string[] {
  const keys = Object.entries(raw).flatMap(([key, value]) => {
    if (key === "$schema") return [];
    if (key === "teams" && isObject(value)) return ignoredTeamsKeys(value);
    if (key !== "permissions" || !isObject(value)) return [key];
    const applied = [...RESTRICTION_KEYS, ...(forbidsBypass(value) ? Object.keys(BYPASS_FORBIDDEN) : [])];
    return Object.entries(value).flatMap(([inner, rules]) => {
      if (!applied.includes(inner)) return [`permissions.${inner}`];
      const isInvalid = RESTRICTION_KEYS.includes(inner) && !isListOfTexts(rules);
      return isInvalid ? [`permissions.${inner} (not a list of rules)`] : [];
    });
  });
  return keys.length === 0 ? [] : [`${file}: ${keys.join(", ")}`];
}

/** Of `teams.sandbox`, a stricter mode and a smaller network apply. */
function ignoredTeamsKeys(value: Raw): string[] {
  return Object.keys(value).flatMap((key) => {
    if (key !== "sandbox") return [`teams.${key}`];
    const sandbox = isObject(value[key]) ? value[key] : {};
    const wider = Object.keys(sandbox).filter((one) => one !== "mode" && one !== "network");
    return wider.map((one) => `teams.sandbox.${one}`);
  });
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** Maximum characters of a value in a list of parts; a hostile one could scroll the others away. */
const MAX_SHOWN = 2_000;

/** Describes a part in one line, for a person who decides about it. A long value is cut, and ends in a mark; secrets are masked. */
export function describePart(part: PartOfFile): string {
  const { file, label, key, value } = part;
  if (key === "file") return `${file}: ${label}, ${describeFile(String(value))}`;
  const text = JSON.stringify(masked(part)) ?? "";
  return `${file}: ${key}: ${cutText(text, MAX_SHOWN)}`;
}

/** Masks secrets only where a variable has them: elsewhere, the same text may be a command that the person must see. */
function masked({ label, key, value }: PartOfFile): unknown {
  if (label === "env") return maskedVariable(key.slice("env.".length), value);
  if (!isObject(value) || !isObject(value.env)) return value;
  const variables = Object.entries(value.env).map(([name, one]) => [name, maskedVariable(name, one)]);
  return { ...value, env: Object.fromEntries(variables) };
}

function maskedVariable(name: string, value: unknown): unknown {
  return typeof value === "string" ? redactText(value, secretsOf({ [name]: value })) : value;
}

/** Names what the front matter of an agent or skill sets (permission mode, tools, model, …), and how long the file is. */
function describeFile(text: string): string {
  const [, head = ""] = FRONT_MATTER.exec(text) ?? [];
  const rows = head
    .split(/\r?\n/)
    .filter((row) => row.trim() !== "" && !/^(name|description|color)\s*:/.test(row));
  const set = rows.map((row) => row.trim()).join("; ");
  const count = text.replace(/\n$/, "").split("\n").length;
  return `${count} lines${set === "" ? "" : `, with ${cutText(set, MAX_SHOWN)}`}`;
}

import { join } from "node:path";
import { modelFacts } from "../agent/model/catalog.ts";
import { isScripted, namesOfModel, resolveModelName } from "../agent/model/model-names.ts";
import { narrowedSandbox } from "../agent/sandbox/settings.ts";
import { absolutePath } from "../agent/tools/file-access.ts";
import { TeamError } from "../errors.ts";
import { areTeamsOff } from "../launch/agent-environment.ts";
import type { IsPriced } from "../operations/budget.ts";
import type { WorktreeSettings } from "../operations/worktrees/create-worktree.ts";
import type { Env } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";
import { addSecrets } from "../os/redact.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { firstIssue, parseInWords } from "../schema/zod-helpers.ts";
import {
  existingProjectFiles,
  managedFile,
  projectTypeFiles,
  readSettingsText,
  userFile,
} from "./settings-files.ts";
import { type Settings, settingsSchema } from "./settings-schema.ts";
import { trustDecision } from "./trust.ts";

export interface LoadedSettings extends Settings {
  /** The hooks and servers of the user's and the administrator's settings alone. Without it, all count as a project's. */
  readonly own?: Pick<Settings, "hooks" | "mcpServers">;
  /** Parts of an untrusted project's files that are ignored, each as `/repo/.claude/settings.json: env, hooks`. */
  readonly ignored: readonly string[];
}

/**
 * Loads the user's settings, then those of a trusted project, then managed ones; later files win. Of an untrusted project
 * only restrictions apply: deny and ask rules, and forbidding bypassPermissions (protocol.md section 1, Trust).
 * @throws TeamError CORRUPT_FILE for an invalid file that applies in full
 */
export function loadSettings(root: string, cwd: string, managed = managedFile()): LoadedSettings {
  const files = existingProjectFiles(root, cwd);
  const others = otherProjectFiles(root, cwd);
  const isTrusted = files.length + others.length > 0 && trustDecision(root, cwd) === true;
  const project = isTrusted ? files.map(readLayer) : files.map(readUntrusted);
  const [user, administrator] = [readLayer(userFile(root)), readLayer(managed)];
  const withProject = project.reduce(
    (below, raw) => merge(below, isTrusted ? raw : restrictionsOf(raw, below), true),
    user,
  );
  const settings = parseSettings(root, merge(withProject, administrator, false));
  addSecrets(settings.env);
  return {
    ...settings,
    own: parseSettings(root, merge(user, administrator, false)),
    ignored: isTrusted ? [] : [...project.flatMap((raw, i) => ignoredKeys(files[i] ?? "", raw)), ...others],
  };
}

/** Parses a single settings file, with defaults for missing keys. @throws TeamError CORRUPT_FILE */
export function parseSettingsFile(file: string): Settings {
  return parseSettings(file, readRaw(file) ?? {});
}

/** Returns the setting or variable that forbids `bypassPermissions`, if any. Any source that forbids it wins (protocol.md section 7). */
export function bypassForbiddenBy(
  { permissions }: Pick<Settings, "permissions">,
  env: Env,
): string | undefined {
  if (permissions.disableBypassPermissionsMode === "disable")
    return "permissions.disableBypassPermissionsMode";
  const variable = "CLAUDE_CODE_BYPASS_PERMISSIONS_MODE";
  return env[variable] === "false" ? `${variable}=false` : undefined;
}

/** Returns the further directories that an agent may work in, as absolute paths: `~` is the home directory, other paths are relative to `cwd`. */
export function additionalDirectories(
  { permissions }: Settings,
  where: { readonly cwd: string; readonly env: Env },
): string[] {
  return permissions.additionalDirectories.map((path) => absolutePath(path, where));
}

/** Returns the settings for worktrees, in the form for a spawn. */
export function worktreeSettings({ teams }: Settings): WorktreeSettings {
  return { directory: teams.worktreeDir, setup: teams.worktreeSetup };
}

/** Lists a project's files that need trust, except its settings files. */
function otherProjectFiles(root: string, cwd: string): string[] {
  const servers = join(cwd, ".mcp.json");
  return [
    ...(entryOf(servers) === undefined ? [] : [servers]),
    ...projectTypeFiles(root, cwd).map(({ directory, names }) => `${directory}: ${names.join(", ")}`),
  ];
}

type Raw = Readonly<Record<string, unknown>>;

/** Reads a settings file that applies in full, and checks it against the schema; empty if it does not exist. */
function readLayer(file: string): Raw {
  const raw = readRaw(file);
  if (raw === undefined) return {};
  parseSettings(file, raw);
  return raw as Raw;
}

function parseSettings(file: string, raw: unknown): Settings {
  const parsed = parseInWords(settingsSchema, raw);
  if (parsed.success) return parsed.data;
  const { path, message } = firstIssue(parsed.error);
  throw new TeamError("CORRUPT_FILE", `${file}: ${path === "" ? "the file" : path}: ${message}.`, {
    hint: `Correct this setting; the file was not changed.`,
    details: { file, field: path },
  });
}

function readRaw(file: string): unknown {
  const text = readSettingsText(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new TeamError("CORRUPT_FILE", `${file} is not JSON.`, {
      hint: "Correct it (often a comma is missing or too many); the file was not changed.",
      cause,
    });
  }
}

/**
 * Merges two layers: the upper one wins, key by key. Deny and ask rules of both apply, and one layer is enough to forbid
 * bypassPermissions.
 * @param adds whether allow rules, directories and hooks of both layers apply too: only managed settings replace them
 */
function merge(below: Raw, above: Raw, adds: boolean): Raw {
  const [lower, upper] = [objectAt(below, "permissions"), objectAt(above, "permissions")];
  const both = ["deny", "ask", ...(adds ? ["allow", "additionalDirectories"] : [])];
  const lists = both.flatMap((key) => {
    const list = [...listAt(lower, key), ...listAt(upper, key)];
    return list.length === 0 ? [] : [[key, list] as const];
  });
  const permissions = {
    ...lower,
    ...upper,
    ...Object.fromEntries(lists),
    ...([lower, upper].some(forbidsBypass) && BYPASS_FORBIDDEN),
  };
  const inner = (key: string): Raw => ({ ...objectAt(below, key), ...objectAt(above, key) });
  const hooks = adds ? concatHooks(objectAt(below, "hooks"), objectAt(above, "hooks")) : inner("hooks");
  const sandbox = { ...sandboxOf(below), ...sandboxOf(above) };
  const teams = { ...inner("teams"), ...(Object.keys(sandbox).length === 0 ? {} : { sandbox }) };
  const byKey = { env: inner("env"), mcpServers: inner("mcpServers"), teams };
  return { ...below, ...above, permissions, hooks, ...byKey };
}

function concatHooks(lower: Raw, upper: Raw): Raw {
  const events = new Set([...Object.keys(lower), ...Object.keys(upper)]);
  return Object.fromEntries(
    [...events].map((event) => [event, [...listAt(lower, event), ...listAt(upper, event)]]),
  );
}

/** Reads an untrusted project's file. Invalid JSON is not an error here, only an ignored entry. */
function readUntrusted(file: string): Raw {
  try {
    const raw = readRaw(file);
    return isObject(raw) ? raw : {};
  } catch (error) {
    if (error instanceof TeamError) return { "not readable as JSON": true };
    throw error;
  }
}

/** Lists of `permissions` that can only take rights away. */
const RESTRICTION_KEYS = ["deny", "ask"];

function restrictionsOf(raw: Raw, below: Raw): Raw {
  const given = objectAt(raw, "permissions");
  const lists = RESTRICTION_KEYS.map((key) => [
    key,
    listAt(given, key).filter((rule) => typeof rule === "string"),
  ]);
  return {
    permissions: { ...Object.fromEntries(lists), ...(forbidsBypass(given) && BYPASS_FORBIDDEN) },
    teams: { sandbox: narrowedSandbox(sandboxOf(below), sandboxOf(raw)) },
  };
}

function sandboxOf(raw: Raw): Raw {
  return objectAt(objectAt(raw, "teams"), "sandbox");
}

const BYPASS_FORBIDDEN = { disableBypassPermissionsMode: "disable" };

function forbidsBypass(permissions: Raw): boolean {
  return permissions.disableBypassPermissionsMode === "disable";
}

function ignoredKeys(file: string, raw: Raw): string[] {
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
    const wider = Object.keys(objectAt(value, key)).filter((one) => one !== "mode" && one !== "network");
    return wider.map((one) => `teams.sandbox.${one}`);
  });
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function objectAt(raw: Raw, key: string): Raw {
  const value = raw[key];
  return isObject(value) ? value : {};
}

function listAt(raw: Raw, key: string): readonly unknown[] {
  const value = raw[key];
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the mode of a lead: the requested one, else the default of the settings. @throws TeamError PERMISSION_DENIED if a setting forbids it, INVALID_INPUT for delegate mode without teams */
export function permittedMode(
  requested: PermissionMode | undefined,
  settings: LoadedSettings,
  env: Env,
): PermissionMode {
  const mode = requested ?? settings.permissions.defaultMode ?? "default";
  if (mode === "delegate" && areTeamsOff({ ...env, ...settings.env })) {
    throw new TeamError(
      "INVALID_INPUT",
      "In delegate mode a lead has only teammates, and agent teams are turned off; nothing was started.",
      { hint: "Unset CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS, or choose another mode." },
    );
  }
  const forbidden = bypassForbiddenBy(settings, { ...env, ...settings.env });
  if (mode === "bypassPermissions" && forbidden !== undefined) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `bypassPermissions mode is forbidden by ${forbidden}; nothing was started.`,
      {
        hint: "Choose another mode: --permission-mode acceptEdits",
      },
    );
  }
  return mode;
}

/**
 * Returns a function that tells whether a model's price is known, from these settings or the built-in catalogue. A
 * playbook has no price.
 */
export function isPricedBy({ teams }: Settings): IsPriced {
  return (model) => {
    if (isScripted(model)) return false;
    const id = resolveModelName(model, teams.models);
    return modelFacts(id, teams.prices, namesOfModel(model, id, teams.models)).rates !== undefined;
  };
}

import { join } from "node:path";
import { modelFacts } from "../agent/model/catalog.ts";
import { isScripted, namesOfModel, resolveModelName } from "../agent/model/model-names.ts";
import { narrowedSandbox } from "../agent/sandbox/settings.ts";
import { absolutePath } from "../agent/tools/file-access.ts";
import { requestRefusal, TeamError } from "../errors.ts";
import { areTeamsOff } from "../launch/agent-environment.ts";
import type { IsPriced } from "../operations/budget.ts";
import type { WorktreeSettings } from "../operations/worktrees/create-worktree.ts";
import type { Env } from "../os/env.ts";
import { addSecrets } from "../os/redact.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { firstIssue, parseWithMessages } from "../schema/zod-helpers.ts";
import { lineOfField } from "./json-place.ts";
import {
  ignoredKeys,
  ignoredParts,
  otherParts,
  otherProjectFiles,
  readRaw,
  readUntrusted,
  restrictionsOf,
  settingsPlace,
} from "./project-parts.ts";
import { BYPASS_FORBIDDEN, filterSettings, forbidsBypass, isObject, type Raw } from "./setting-parts.ts";
import { managedFile, userFile } from "./setting-paths.ts";
import { existingProjectFiles, isForeign } from "./settings-files.ts";
import { type Settings, settingsSchema } from "./settings-schema.ts";
import { readSettingsText } from "./settings-text.ts";
import { confirmationsIn } from "./trust.ts";

export interface LoadedSettings extends Settings {
  /** Only the settings of the user and the administrator. If omitted, all settings count as a project's. */
  readonly own?: Pick<Settings, "hooks" | "mcpServers" | "permissions">;
  /** Parts of a project's files that are ignored, each as `/repo/.claude/settings.json: env, hooks`. */
  readonly ignored: readonly string[];
  /** Why they are ignored, as the beginning of a line. */
  readonly ignoredReason: string;
  /** The user's or the administrator's settings file, if it belongs to another user and is ignored. */
  readonly foreign?: readonly string[];
}

/** Returns a line for everything that is ignored, as `not trusted, so ignored: /repo/.claude/settings.json: env`. */
export function ignoredLines({
  ignored,
  ignoredReason,
  foreign,
}: Pick<LoadedSettings, "ignored" | "ignoredReason" | "foreign">): string[] {
  return [
    ...(foreign ?? []).map((file) => `owned by another user, so ignored: ${file}`),
    ...ignored.map((part) => `${ignoredReason}, so ignored: ${part}`),
  ];
}

/**
 * Loads the settings of the user, of a trusted project and of the administrator, in this order; later files win. From an
 * untrusted project, and from changes since the user trusted it, only restrictions apply: deny and ask rules, and forbidding
 * bypassPermissions (protocol.md section 1, Trust). The user's file is ignored if another user owns it, except root.
 * @throws TeamError CORRUPT_FILE for an invalid file that applies in full
 */
export function loadSettings(root: string, cwd: string, managed = managedFile()): LoadedSettings {
  const { layers: project, ...ignored } = projectLayers(root, cwd);
  const foreign = [userFile(root), managed].filter(isForeign);
  const [user = {}, administrator = {}] = [userFile(root), managed].map((file) =>
    foreign.includes(file) ? {} : readLayer(file),
  );
  const withProject = project.reduce((below, layer) => merge(below, layer(below), true), user);
  const settings = parseSettings(root, merge(withProject, administrator, false));
  addSecrets(settings.env);
  const own = parseSettings(root, merge(user, administrator, false));
  return { ...settings, own, ...ignored, ...(foreign.length > 0 && { foreign }) };
}

/** Returns a layer of a project, given the settings below it: a sandbox that is not confirmed can only narrow those. */
type ProjectLayer = (below: Raw) => Raw;

function projectLayers(
  root: string,
  cwd: string,
): Pick<LoadedSettings, "ignored" | "ignoredReason"> & { readonly layers: readonly ProjectLayer[] } {
  const files = existingProjectFiles(root, cwd);
  const others = otherProjectFiles(root, cwd);
  if (files.length + others.length === 0) return { layers: [], ignored: [], ignoredReason: "" };
  const { decision, reason, isConfirmed } = confirmationsIn(root, cwd);
  if (decision !== true) {
    const raws = files.map(readUntrusted);
    const ignored = [...raws.flatMap((raw, i) => ignoredKeys(files[i] ?? "", raw)), ...others];
    const layers = raws.map((raw) => withNarrowedSandbox(raw, restrictionsOf(raw)));
    return { layers, ignored, ignoredReason: reason };
  }
  const filtered = files.map((path) => {
    const file = settingsPlace(path);
    const raw = readLayer(path);
    const { kept, removed } = filterSettings(raw, (part) => isConfirmed({ ...part, file }));
    const isNarrowed = removed.some(({ key }) => key === "teams.sandbox");
    return { path, removed, layer: isNarrowed ? withNarrowedSandbox(raw, kept) : () => kept };
  });
  const unconfirmed = otherParts(root, cwd).filter((part) => !isConfirmed(part));
  const ignored = [
    // The path that was read: in a linked worktree the local file is that of the main worktree.
    ...filtered.flatMap((one) => ignoredParts(one.removed.map((part) => ({ ...part, file: one.path })))),
    ...ignoredParts(unconfirmed.map((part) => ({ ...part, file: join(cwd, part.file) }))),
  ];
  return { layers: filtered.map(({ layer }) => layer), ignored, ignoredReason: reason };
}

function withNarrowedSandbox(raw: Raw, kept: Raw): ProjectLayer {
  return (below) => ({
    ...kept,
    teams: { ...objectAt(kept, "teams"), sandbox: narrowedSandbox(sandboxOf(below), sandboxOf(raw)) },
  });
}

function sandboxOf(raw: Raw): Raw {
  return objectAt(objectAt(raw, "teams"), "sandbox");
}

/** Parses a single settings file, with defaults for missing keys. @throws TeamError CORRUPT_FILE */
export function parseSettingsFile(file: string): Settings {
  return parseSettings(file, readRaw(file) ?? {}, true);
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

/** Returns the additional directories that an agent may work in, as absolute paths: `~` is the home directory, other paths are relative to `cwd`. */
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

/** Reads a settings file that applies in full, and checks it against the schema; empty if it does not exist. */
function readLayer(file: string): Raw {
  const raw = readRaw(file);
  if (raw === undefined) return {};
  parseSettings(file, raw, true);
  return raw as Raw;
}

/** @param isFile whether the settings are those of one file, so that its line can be named */
function parseSettings(file: string, raw: unknown, isFile = false): Settings {
  const parsed = parseWithMessages(settingsSchema, raw);
  if (parsed.success) return parsed.data;
  const { path, message, keys } = firstIssue(parsed.error);
  const line = isFile ? lineOfField(readSettingsText(file) ?? "", keys) : undefined;
  const place = line === undefined ? file : `${file}:${line}`;
  throw new TeamError("CORRUPT_FILE", `${place}: ${path === "" ? "the file" : path}: ${message}.`, {
    hint: `Correct this setting; the file was not changed.`,
    details: { file, field: path, ...(line === undefined ? {} : { line }) },
  });
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

function objectAt(raw: Raw, key: string): Raw {
  const value = raw[key];
  return isObject(value) ? value : {};
}

function listAt(raw: Raw, key: string): readonly unknown[] {
  const value = raw[key];
  return Array.isArray(value) ? value : [];
}

/** Returns the mode of a lead: the requested one, else the default of the settings. @throws TeamError PERMISSION_DENIED if a setting forbids it, INVALID_INPUT for delegate mode without teams */
export function permittedMode(
  requested: PermissionMode | undefined,
  settings: LoadedSettings,
  env: Env,
): PermissionMode {
  const mode = requested ?? settings.permissions.defaultMode ?? "default";
  if (mode === "delegate" && areTeamsOff({ ...env, ...settings.env })) {
    throw requestRefusal(
      "INVALID_INPUT",
      "In delegate mode a lead has only teammates, and agent teams are turned off",
      "nothing was started",
      { hint: "Unset CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS, or choose another mode." },
    );
  }
  const forbidden = bypassForbiddenBy(settings, { ...env, ...settings.env });
  if (mode === "bypassPermissions" && forbidden !== undefined) {
    throw requestRefusal(
      "PERMISSION_DENIED",
      `bypassPermissions mode is forbidden by ${forbidden}`,
      "nothing was started",
      {
        hint: "Choose another mode: --permission-mode acceptEdits",
      },
    );
  }
  return mode;
}

/**
 * Returns a predicate: whether a model's price is known, from these settings or the built-in catalogue. A
 * playbook has no price.
 */
export function isPricedBy({ teams }: Settings): IsPriced {
  return (model) => {
    if (isScripted(model)) return false;
    const id = resolveModelName(model, teams.models);
    return modelFacts(id, teams.prices, namesOfModel(model, id, teams.models)).rates !== undefined;
  };
}

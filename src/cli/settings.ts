import { join } from "node:path";
import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import type { WorktreeSettings } from "../lead/worktree-start.ts";
import { platform } from "../os/env.ts";
import { readText } from "../os/fs.ts";
import { permissionMode } from "../schema/config.ts";
import { firstIssue, parseInWords } from "../schema/json.ts";

const rules = z._default(z.array(z.string()), []);

const permissions = z.looseObject({
  /** Tools that run without asking, by rule: `Bash(git:*)`. */
  allow: rules,
  ask: rules,
  /** Holds in every mode and from every source, also an untrusted project's. */
  deny: rules,
  additionalDirectories: rules,
  /** Mode of a team that is made by command; without it, and for one that only a newer peer knows, `default`. */
  defaultMode: z.catch(z.optional(permissionMode), undefined),
  /** `disable` forbids `bypassPermissions`. */
  disableBypassPermissionsMode: z.optional(z.string()),
});

const ours = z.looseObject({
  /** Where worktrees of teammates go, relative to the repository; `.worktrees` in it by default. */
  worktreeDir: z.optional(z.string().check(z.minLength(1))),
  /** Shell command that is run in each new worktree before its teammate starts; none by default. */
  worktreeSetup: z.optional(z.string().check(z.minLength(1))),
  hooks: z.prefault(
    z.looseObject({
      /** Times in a row that a hook may send an idle teammate back to work. */
      maxContinuations: z._default(z.int().check(z.minimum(0)), 5),
    }),
    {},
  ),
  /** US dollars for a million tokens, by model. */
  prices: z._default(z.record(z.string(), z.looseObject({})), {}),
  /** Short names of models: `{"sonnet": "…"}`. */
  models: z._default(z.record(z.string(), z.string()), {}),
  /** Command that is run when something waits for a person; none by default. */
  notify: z.optional(z.string()),
  /** Seconds without activity after which a running agent shows as stuck. */
  stuckAfter: z._default(z.number().check(z.positive()), 600),
  /** Whether panes are recorded. */
  record: z._default(z.boolean(), false),
  /** Foreign command lines by name. */
  adapters: z._default(z.record(z.string(), z.looseObject({})), {}),
  /** Smallest pane, in cells. */
  minPane: z.prefault(
    z.looseObject({
      columns: z._default(z.int().check(z.minimum(20)), 40),
      rows: z._default(z.int().check(z.minimum(5)), 10),
    }),
    {},
  ),
  /** Names of secret variables that an agent's shell commands may have; none by default. */
  passSecrets: z._default(z.array(z.string()), []),
});

/** `settings.json` as far as it concerns us; what others keep in it is left alone. */
export const settingsSchema = z.looseObject({
  teammateMode: z._default(z.enum(["auto", "tmux", "in-process", "iterm2", "process"]), "auto"),
  permissions: z.prefault(permissions, {}),
  /** Variables for every agent. */
  env: z._default(z.record(z.string(), z.coerce.string()), {}),
  teams: z.prefault(ours, {}),
});
export type Settings = z.infer<typeof settingsSchema>;

export interface LoadedSettings extends Settings {
  /** What a project's files ask for and do not get, for one line that names it: `/repo/.claude/settings.json: env, hooks`. */
  readonly ignored: readonly string[];
}

/**
 * The user's settings under managed ones, and of the project's (which nobody has trusted) the deny rules alone
 * (protocol.md section 1, Trust).
 * @throws TeamError CORRUPT_FILE for a file of the user's that is not what it should be; a project's is only named
 */
export function loadSettings(root: string, cwd: string, managed = managedFile()): LoadedSettings {
  const own = readSettings(join(root, "settings.json")) ?? settingsSchema.parse({});
  const above = readRaw(managed);
  const merged = above === undefined ? own : parseSettings(managed, mergeManaged(own, above));
  const project = projectFiles(cwd).map((file) => ({ file, raw: untrusted(file) }));
  const deny = project.flatMap(({ raw }) => denyRules(raw));
  return {
    ...merged,
    permissions: { ...merged.permissions, deny: [...merged.permissions.deny, ...deny] },
    ignored: project.flatMap(({ file, raw }) => ignoredOf(file, raw)),
  };
}

/** JSON Schema of the settings file, with its defaults. */
export function settingsJsonSchema(): object {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}

/** What they say of worktrees, as a spawn takes it. */
export function worktreeSettings({ teams }: Settings): WorktreeSettings {
  return { directory: teams.worktreeDir, setup: teams.worktreeSetup };
}

function managedFile(): string {
  return platform === "darwin"
    ? "/Library/Application Support/ClaudeCode/managed-settings.json"
    : "/etc/claude-code/managed-settings.json";
}

function projectFiles(cwd: string): string[] {
  return [join(cwd, ".claude", "settings.json"), join(cwd, ".claude", "settings.local.json")];
}

function readSettings(file: string): Settings | undefined {
  const raw = readRaw(file);
  return raw === undefined ? undefined : parseSettings(file, raw);
}

function parseSettings(file: string, raw: unknown): Settings {
  const parsed = parseInWords(settingsSchema, raw);
  if (parsed.success) return parsed.data;
  const { path, message } = firstIssue(parsed.error);
  throw new TeamError("CORRUPT_FILE", `${file}: ${path === "" ? "the file" : path}: ${message}.`, {
    hint: `Mend that setting; nothing was changed in the file.`,
    details: { file, field: path },
  });
}

function readRaw(file: string): unknown {
  const text = readText(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new TeamError("CORRUPT_FILE", `${file} is not JSON.`, {
      hint: "Mend it (a missing or extra comma, mostly); nothing was changed in it.",
      cause,
    });
  }
}

/** Managed settings win, key by key; their deny and ask rules are added to the user's. */
function mergeManaged(own: Settings, above: unknown): unknown {
  if (!isObject(above)) return above;
  const managed = isObject(above.permissions) ? above.permissions : {};
  const list = (key: "deny" | "ask"): unknown[] => [...own.permissions[key], ...[managed[key] ?? []].flat()];
  const inner = (key: "env" | "teams"): object => ({
    ...own[key],
    ...(isObject(above[key]) ? above[key] : {}),
  });
  const merged = { ...own.permissions, ...managed, deny: list("deny"), ask: list("ask") };
  return { ...own, ...above, permissions: merged, env: inner("env"), teams: inner("teams") };
}

/** A project's file; one that does not parse gives nothing, as nothing of it counts but rules that narrow. */
function untrusted(file: string): Readonly<Record<string, unknown>> {
  try {
    const raw = readRaw(file);
    return isObject(raw) ? raw : {};
  } catch (error) {
    if (error instanceof TeamError) return { "not JSON": true };
    throw error;
  }
}

function denyRules(raw: Readonly<Record<string, unknown>>): string[] {
  const { permissions: given } = raw;
  const deny = isObject(given) ? given.deny : undefined;
  return Array.isArray(deny) ? deny.filter((rule) => typeof rule === "string") : [];
}

function ignoredOf(file: string, raw: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.entries(raw).flatMap(([key, value]) => {
    if (key === "$schema") return [];
    if (key !== "permissions" || !isObject(value)) return [key];
    return Object.keys(value).flatMap((inner) => (inner === "deny" ? [] : [`permissions.${inner}`]));
  });
  return keys.length === 0 ? [] : [`${file}: ${keys.join(", ")}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

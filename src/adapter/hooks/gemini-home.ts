import { join, resolve } from "node:path";
import { parse } from "jsonc-parser";
import { messageOf, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { ensureOwnDirectory, homeDirectory } from "../../os/files/app-directories.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf, listDir, readText, setModifiedTime, writeNew } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { createLink, realPathOf } from "../../os/files/symlinks.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import { TEAM_SERVER, type ToolServer } from "../channel.ts";
import { fieldsOf } from "../reported-values.ts";
import type { GeminiHookCommand } from "./gemini-hook-server.ts";

/** Files that Gemini writes at a login or a first start. During a session, Gemini may replace our links to them with new files. */
const LOGIN_FILES = [
  "oauth_creds.json",
  "google_accounts.json",
  "gemini-credentials.json",
  "mcp-oauth-tokens.json",
  "trustedFolders.json",
  "installation_id",
  "projects.json",
  "state.json",
];
/** Directories that Gemini creates for its conversations. */
const CREATED = ["tmp", "history"];
/** Names of temporary files and locks of other processes. */
const TEMPORARY = /\.(?:tmp|lock)$/;
/** Hooks wait for a person's answer. By default, Gemini continues after one minute. */
const HOOK_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * A private home for one start of Gemini: links to everything in the person's `.gemini` except temporary files, and a separate
 * settings file with our hooks and the server of the team's tools, because Gemini takes hooks only from its settings. The person's
 * settings file is never changed; conversations and renewed logins are stored in the person's `.gemini`.
 */
export class GeminiHome {
  /** The value of `GEMINI_CLI_HOME`. */
  readonly directory: string;
  readonly #personsDirectory: string;
  readonly #env: Env;

  /** @param directory path of the home; it must not exist yet */
  constructor(directory: string, env: Env) {
    this.directory = directory;
    this.#env = env;
    this.#personsDirectory = personsDirectory(env);
  }

  /** The directory in which Gemini keeps its conversations. */
  get records(): string {
    return join(this.#geminiDirectory, "tmp");
  }

  /** Whether Gemini may look for its key in a keychain. */
  get usesKeychain(): boolean {
    const { auth } = fieldsOf(settingsIn(this.#personsDirectory).security);
    const { selectedType = API_KEY } = fieldsOf(auth);
    return selectedType === API_KEY && !this.#env.GEMINI_API_KEY;
  }

  get #geminiDirectory(): string {
    return join(this.directory, ".gemini");
  }

  /**
   * Creates the home.
   * @throws TeamError SPAWN_FAILED if the project's settings turn off our hooks, or define an MCP server with our name
   */
  create(hooks: readonly GeminiHookCommand[], servers: readonly ToolServer[], cwd: string): void {
    // In the home directory, .gemini contains the person's settings, not a project's.
    if (resolve(cwd, ".gemini") !== this.#personsDirectory) refuseProjectSettings(cwd, hooks);
    ensureOwnDirectory(this.directory);
    ensureOwnDirectory(this.#geminiDirectory);
    for (const name of CREATED) ensureDir(join(this.#personsDirectory, name));
    for (const name of new Set([...listDir(this.#personsDirectory), ...LOGIN_FILES, ...CREATED]))
      if (name !== SETTINGS && !TEMPORARY.test(name))
        createLink(join(this.#personsDirectory, name), join(this.#geminiDirectory, name));
    writeNew(
      join(this.#geminiDirectory, SETTINGS),
      settingsText(this.#personsDirectory, hooks, servers),
      undefined,
      false,
    );
    writeNew(join(this.directory, POLICY), POLICY_TEXT, undefined, false);
  }

  /** Path of the file with {@link POLICY_TEXT}, for `--policy`. */
  get policy(): string {
    return join(this.directory, POLICY);
  }

  /**
   * Copies login files that Gemini wrote in place of our links back to the person's directory, unless the person, or another member, has
   * written newer ones. Idempotent.
   * @param note reports a file that cannot be copied
   */
  restoreLoginFiles(note: (text: string) => void): void {
    for (const name of LOGIN_FILES) {
      try {
        this.#restore(name);
      } catch (error) {
        note(`the ${name} that Gemini has written could not be copied to your .gemini: ${messageOf(error)}`);
      }
    }
  }

  #restore(name: string): void {
    const path = join(this.#geminiDirectory, name);
    const entry = entryOf(path);
    if (entry?.isFile() !== true) return;
    // The person's file may be a link to another place.
    const target = realPathOf(join(this.#personsDirectory, name));
    const text = readText(path);
    const writtenAt = Number(entry.mtimeMs);
    if (text === undefined || Number(entryOf(target)?.mtimeMs ?? 0) > writtenAt) return;
    replaceFile(target, text);
    // Another member that ends later may have a newer one.
    setModifiedTime(target, writtenAt);
  }
}

const SETTINGS = "settings.json";
/** A kind of login in Gemini's settings. */
const API_KEY = "gemini-api-key";
const POLICY = "teams.toml";

/**
 * Our hooks decide, so Gemini itself does not ask: a call runs if no hook refuses it. Questions of its model stay on its screen. Its plan
 * mode, which would remove the team's tools, is denied.
 */
const POLICY_TEXT = `[[rule]]
toolName = "*"
decision = "allow"
priority = 900
allowRedirection = true

[[rule]]
toolName = "ask_user"
decision = "ask_user"
priority = 999

[[rule]]
toolName = ["enter_plan_mode", "exit_plan_mode"]
decision = "deny"
priority = 999
`;

/** Returns the directory in which Gemini keeps a person's files. */
function personsDirectory(env: Env): string {
  return join(env.GEMINI_CLI_HOME || homeDirectory(env), ".gemini");
}

/** Whether Gemini has a record of a conversation. */
export function hasConversation(env: Env, session: string): boolean {
  const records = join(personsDirectory(env), "tmp");
  const end = `-${textStart(session, 8)}.jsonl`;
  return listDir(records).some((project) => {
    const names = ifReadable(() => listDir(join(records, project, "chats"))) ?? [];
    return names.some((name) => name.endsWith(end));
  });
}

function settingsIn(directory: string): Readonly<Record<string, unknown>> {
  return fieldsOf(parse(readText(join(directory, SETTINGS)) ?? "{}"));
}

function settingsText(
  directory: string,
  hooks: readonly GeminiHookCommand[],
  servers: readonly ToolServer[],
): string {
  const before = settingsIn(directory);
  const hooksBefore = fieldsOf(before.hooks);
  const ours = Object.fromEntries(
    hooks.map(({ event, name, command }) => {
      const hook = { type: "command", name, command, timeout: HOOK_TIMEOUT_MS };
      const others = hooksBefore[event];
      return [event, [{ hooks: [hook] }, ...(Array.isArray(others) ? others : [])]];
    }),
  );
  const tools = Object.fromEntries(
    servers.map(({ name, command, args, env }) => [name, { command, args, env, trust: true }]),
  );
  const { disabled, ...hooksConfig } = fieldsOf(before.hooksConfig);
  const others = (Array.isArray(disabled) ? disabled : []).filter((one) =>
    hooks.every(({ name }) => name !== one),
  );
  return JSON.stringify({
    ...before,
    // With updates on, Gemini may replace the installed program.
    general: { ...fieldsOf(before.general), enableAutoUpdate: false },
    hooks: { ...hooksBefore, ...ours },
    hooksConfig: { ...hooksConfig, enabled: true, disabled: others },
    mcpServers: { ...fieldsOf(before.mcpServers), ...tools },
  });
}

/** Refuses a project whose settings would override ours: in a trusted project they take precedence. */
function refuseProjectSettings(cwd: string, hooks: readonly GeminiHookCommand[]): void {
  const directory = join(cwd, ".gemini");
  const path = join(directory, SETTINGS);
  const { hooksConfig, mcpServers } = settingsIn(directory);
  const { enabled, disabled } = fieldsOf(hooksConfig);
  const isOff =
    enabled === false || (Array.isArray(disabled) && hooks.some(({ name }) => disabled.includes(name)));
  const why = isOff
    ? "turns off hooks that teams needs"
    : TEAM_SERVER in fieldsOf(mcpServers)
      ? `defines an MCP server "${TEAM_SERVER}", and teams needs that name for its own tools`
      : undefined;
  if (why === undefined) return;
  throw new TeamError("SPAWN_FAILED", `${path} ${why}; Gemini was not started.`, {
    hint: "Change that setting, or use --cli gemini.",
  });
}

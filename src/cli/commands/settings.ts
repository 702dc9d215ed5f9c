import { REDACTED, redactValue, secretsOf } from "../../os/redact.ts";
import { playbookJsonSchema } from "../../schema/playbook.ts";
import { managedFile, userFile } from "../../settings/setting-paths.ts";
import { loadSettings } from "../../settings/settings.ts";
import { existingProjectFiles } from "../../settings/settings-files.ts";
import { settingsJsonSchema } from "../../settings/settings-schema.ts";
import { teamsHome } from "../../team/ref.ts";
import { parsedUrl } from "../../text/parsed-url.ts";
import { printableJson } from "../../text/terminal-text.ts";
import { defineCommand } from "../command.ts";
import { maskSecrets } from "../mask-secrets.ts";
import { noteIgnored } from "../trust-prompt.ts";

/** Masks everything of each server except its program, or its URL's host: the rest often contains credentials. */
function maskedServers(servers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, maskedServer(server)]));
}

function maskedServer(server: unknown): unknown {
  if (typeof server !== "object" || server === null || Array.isArray(server)) return masked(server);
  const shown = Object.entries(server).map(([key, value]) => {
    if (typeof value === "string" && ["type", "command"].includes(key)) return [key, value];
    return [key, key === "url" ? maskedUrl(value) : masked(value)];
  });
  return Object.fromEntries(shown);
}

/** Keeps the keys and the number of items of a value: the user must notice a missing one. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item)]));
  return typeof value === "boolean" ? value : REDACTED;
}

function maskedUrl(value: unknown): unknown {
  const url = typeof value === "string" ? parsedUrl(value) : undefined;
  if (url === undefined) return REDACTED;
  const { protocol, host, pathname, search, hash, username, password } = url;
  const hidden = (part: string): string => (part === "" ? "" : REDACTED);
  const user = username + password === "" ? "" : `${REDACTED}@`;
  return `${protocol}//${user}${host}/${hidden(pathname.slice(1) + search + hash)}`;
}

export const command = defineCommand({
  name: "settings",
  ignoresTeamOptions: true,
  summary: "Show the effective settings for this directory",
  args: [],
  options: {
    schema: {
      value: "file",
      valueOptional: true,
      summary: "print the JSON Schema of a settings file, with a description of each key, or of a playbook",
      choices: ["settings", "playbook"],
    },
  },
  examples: [
    "teams settings",
    "teams settings --schema > settings.schema.json",
    "teams settings --schema playbook > playbook.schema.json",
  ],
  notes:
    "Later files win: your own settings.json, the project's .claude/settings.json, its settings.local.json, managed settings.\n" +
    "In a directory that you do not trust, a project's files can only take rights away (see teams trust).",
  async run({ io, options, out }) {
    if (options.schema !== undefined) {
      const schema = options.schema === "playbook" ? playbookJsonSchema() : settingsJsonSchema();
      out.answer(schema, () => printableJson(schema, 2));
      return;
    }
    const { root } = teamsHome(io.env);
    const loaded = loadSettings(root, io.cwd);
    const { ignored, ignoredReason: _reason, own: _own, foreign, ...found } = loaded;
    // Redacted: users paste this output elsewhere.
    const redacted = redactValue(found, secretsOf({ ...io.env, ...found.env }));
    const settings = { ...maskSecrets(redacted), mcpServers: maskedServers(redacted.mcpServers) };
    const files = [userFile(root), ...existingProjectFiles(root, io.cwd), managedFile()];
    out.answer({ files, ignored: [...(foreign ?? []), ...ignored], settings }, () => {
      noteIgnored(out, loaded);
      return printableJson(settings, 2);
    });
  },
});

import { redactValue, secretsOf } from "../../os/redact.ts";
import { playbookJsonSchema } from "../../schema/playbook.ts";
import { loadSettings } from "../../settings/settings.ts";
import { existingProjectFiles, managedFile, userFile } from "../../settings/settings-files.ts";
import { settingsJsonSchema } from "../../settings/settings-schema.ts";
import { teamsHome } from "../../team/ref.ts";
import { line } from "../../terminal/output.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "settings",
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
      out.answer(schema, () => JSON.stringify(schema, undefined, 2));
      return;
    }
    const { root } = teamsHome(io.env);
    const { ignored, own: _own, ...found } = loadSettings(root, io.cwd);
    // Redacted: users paste this output elsewhere.
    const settings = redactValue(found, secretsOf({ ...io.env, ...found.env }));
    const files = [userFile(root), ...existingProjectFiles(root, io.cwd), managedFile()];
    out.answer({ files, ignored, settings }, () => {
      for (const entry of ignored) out.note(line`Not trusted, so ignored: ${entry}`);
      return stripControls(JSON.stringify(settings, undefined, 2));
    });
  },
});

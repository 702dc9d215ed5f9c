import { redactValue, secretsOf } from "../../os/redact.ts";
import { playbookJsonSchema } from "../../schema/playbook.ts";
import { loadSettings } from "../../settings/settings.ts";
import { managedFile, presentProjectFiles, userFile } from "../../settings/settings-files.ts";
import { settingsJsonSchema } from "../../settings/settings-schema.ts";
import { teamsHome } from "../../team/ref.ts";
import { line } from "../../terminal/paint.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand } from "../define-command.ts";

export const command = defineCommand({
  name: "settings",
  summary: "Show the settings that count in this directory, and what can be set",
  args: [],
  options: {
    schema: {
      value: "file",
      valueOptional: true,
      summary: "the JSON Schema of the settings file, with what each key is for, or of a playbook",
      choices: ["settings", "playbook"],
    },
  },
  examples: [
    "teams settings",
    "teams settings --schema > settings.schema.json",
    "teams settings --schema playbook > playbook.schema.json",
  ],
  notes:
    "From weakest to strongest: your own settings.json, the project's .claude/settings.json and settings.local.json, managed ones.\n" +
    "From a directory that you do not trust (teams trust) only what takes rights away counts.",
  async run({ io, options, out }) {
    if (options.schema !== undefined) {
      const schema = options.schema === "playbook" ? playbookJsonSchema() : settingsJsonSchema();
      out.answer(schema, () => JSON.stringify(schema, undefined, 2));
      return;
    }
    const { root } = teamsHome(io.env);
    const { ignored, ...found } = loadSettings(root, io.cwd);
    // Looked at, and pasted elsewhere.
    const settings = redactValue(found, secretsOf({ ...io.env, ...found.env }));
    const files = [userFile(root), ...presentProjectFiles(root, io.cwd), managedFile()];
    out.answer({ files, ignored, settings }, () => {
      for (const what of ignored) out.note(line`Not trusted, so ignored: ${what}`);
      return stripControls(JSON.stringify(settings, undefined, 2));
    });
  },
});

import { pathToFileURL } from "node:url";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import type { ChannelSetup } from "../channel.ts";
import { fieldsOf } from "../reported-values.ts";

/**
 * OpenCode asks for everything that may act outside its conversation. Each tool is named, because a project may have settings for it.
 * A call outside the working directory already asks for its tool, so it does not ask for the directory too.
 */
const ASKED = ["edit", "bash", "read", "glob", "grep", "list", "lsp", "skill", "webfetch", "websearch"];
const UNASKED = ["external_directory", "task", "todowrite", "todoread", "question", "teams_*"];

export const PERMISSION: Readonly<Record<string, string>> = {
  "*": "ask",
  ...Object.fromEntries(ASKED.map((name) => [name, "ask"])),
  ...Object.fromEntries(UNASKED.map((name) => [name, "allow"])),
};

const CONTENT = "OPENCODE_CONFIG_CONTENT";
const RIGHTS = "OPENCODE_PERMISSION";
const RETRIES = "npm_config_fetch_retries";

interface Settings {
  readonly env: Env;
  /** Variables, with their values, for the commands that OpenCode runs. */
  readonly commandEnv: Readonly<Record<string, string>>;
  /** Variables that only its start needs. */
  readonly removed: readonly string[];
}

/** Returns the environment that gives OpenCode our plugin, the team's tools and our permissions. */
export function settingsOf({ adapter, env, servers, model }: ChannelSetup, pluginFile: string): Settings {
  const all = { ...env, ...adapter.env };
  const own = contentOf(all[CONTENT]);
  const mcp = Object.fromEntries(
    servers.map(({ name, command, args, env: environment }) => [
      name,
      { type: "local", command: [command, ...args], environment, enabled: true },
    ]),
  );
  const content = {
    ...own,
    // The screen takes its model from `--model`; messages that the screen did not send get the model of the settings.
    ...(model !== undefined && { model }),
    autoupdate: false,
    share: "disabled",
    permission: PERMISSION,
    mcp: { ...fieldsOf(own.mcp), ...mcp },
    plugin: [...(Array.isArray(own.plugin) ? own.plugin : []), pathToFileURL(pluginFile).href],
  };
  return {
    env: {
      // Without a network, OpenCode would spend a minute on installing a package before it loads a plugin.
      [RETRIES]: "0",
      ...all,
      [CONTENT]: JSON.stringify(content),
      // Overrides every file.
      [RIGHTS]: JSON.stringify(PERMISSION),
    },
    // A command may start another OpenCode, which must not get our settings.
    commandEnv: { [CONTENT]: all[CONTENT] ?? "", [RIGHTS]: all[RIGHTS] ?? "" },
    removed: all[RETRIES] === undefined ? [RETRIES] : [],
  };
}

function contentOf(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined || text === "") return {};
  try {
    return fieldsOf(JSON.parse(text));
  } catch (error) {
    throw new TeamError("INVALID_INPUT", `${CONTENT} is not JSON, so OpenCode was not started.`, {
      hint: "Correct the variable (comments are not allowed), or unset it.",
      cause: error,
    });
  }
}

import { join } from "node:path";
import { type AgentFlags, agentArgv } from "../../launch/agent-flags.ts";
import type { McpEntry } from "../../launch/mcp-entry.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir } from "../../os/files/fs.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { Adapter } from "../adapter-schema.ts";
import { TEAM_SERVER } from "../channel.ts";
import { mcpSnippet } from "../mcp-snippets.ts";
import { optionArgs } from "../option-args.ts";
import { hookSettings } from "./claude-hooks.ts";

interface ClaudeStart {
  readonly adapter: Adapter;
  /** The arguments of the teammate that it works for. */
  readonly flags: AgentFlags;
  readonly mode: PermissionMode;
  readonly effort: string | undefined;
  /** Deny rules of its agent type. */
  readonly denials: readonly string[];
  /** Text for the end of its system prompt. */
  readonly instructions: string;
  /** Its own id of the conversation to continue. */
  readonly conversation: string | undefined;
  /** A directory of this member for its settings files: the person's files are not changed. */
  readonly directory: string;
  /** The command of its hooks. */
  readonly hook: readonly string[];
  /** The server of the team's tools. */
  readonly tools: McpEntry;
}

/** Writes the settings files of a claude, and returns its arguments (protocol.md section 6). */
export function prepareClaude(start: ClaudeStart): string[] {
  const { adapter, flags, conversation, directory, hook, tools, instructions } = start;
  ensureDir(directory);
  const [settings, servers] = [join(directory, "settings.json"), join(directory, "mcp.json")];
  replaceFile(settings, JSON.stringify(hookSettings(hook), undefined, 2), { sync: false });
  replaceFile(servers, mcpSnippet("claude", tools).text, { sync: false });
  const {
    ownScreen: _,
    model: given,
    resume: _resume,
    permissionMode: _mode,
    tools: _tools,
    ...known
  } = flags;
  const own = {
    ...known,
    // Its calls act only on the team, in the member's name.
    allowedTools: [...(flags.allowedTools ?? []), `mcp__${TEAM_SERVER}`],
    disallowedTools: [...start.denials, ...(flags.disallowedTools ?? [])],
  };
  const model = given === adapter.id ? undefined : given;
  return [
    ...adapter.args,
    ...agentArgv(own),
    ...modeArgs(start),
    ...optionArgs({ adapter, model, effort: start.effort }),
    ...(instructions === "" ? [] : ["--append-system-prompt", instructions]),
    ...["--settings", settings, "--mcp-config", servers],
    ...(conversation === undefined ? [] : ["--resume", conversation]),
  ];
}

/** Returns the arguments for the mode. Always passed: without a mode, the newest versions let a model decide. */
function modeArgs({ adapter, mode }: ClaudeStart): string[] {
  const name = adapter.modes[mode] ?? adapter.modes.default ?? "default";
  return name === "bypassPermissions" ? ["--dangerously-skip-permissions"] : ["--permission-mode", name];
}

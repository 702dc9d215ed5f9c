import { join } from "node:path";
import type { Adapter } from "../../adapter/adapter-schema.ts";
import { findAdapter } from "../../adapter/adapters.ts";
import { prepareClaude } from "../../adapter/inbox/claude-start.ts";
import { acceptVersion } from "../../adapter/installed/version-check.ts";
import { requireProgram } from "../../adapter/require-program.ts";
import { agentTypeOrGeneral, DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import { messageOf } from "../../errors.ts";
import { mcpEntry } from "../../launch/mcp-entry.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { Env } from "../../os/env.ts";
import { startOnScreen } from "../../os/process/screen-program.ts";
import { readMetadata, typesDirectory } from "../../schema/member-metadata.ts";
import { agentId, agentName } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import { versionOfClaude } from "../../team/members/peer-version.ts";
import { readHook } from "../../team/records/hook-record.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { openAgentType } from "../agent/load-agent-types.ts";
import { RECORDING_VARIABLE } from "../agent/recording.ts";
import { filesContext } from "../operation-context.ts";
import { accountOf } from "./account-limits.ts";
import { OwnInboxLimit } from "./own-inbox-limit.ts";
import { hasConversation } from "./own-inbox-report.ts";
import { OwnInboxWatch } from "./own-inbox-watch.ts";
import { type RunningTeammate, settingsOf } from "./running-teammate.ts";

/**
 * Runs a CLI that reads its inbox itself, as claude does: it also writes its messages and shows its own screen. This process starts it
 * with our hooks and tools, reports its state from files and hooks, and ends with it. No screen is read.
 * @returns the exit status
 * @throws TeamError SPAWN_FAILED if it cannot be started, or crashes
 */
export async function runOwnInbox(
  call: AnyCall,
  self: RunningTeammate,
  mode: PermissionMode,
): Promise<number> {
  const { ref, config, member, signal, view } = self;
  const ctx = filesContext(call, { home: ref.home, ref, config, actor: member.name });
  const own = await startOf(self, ctx, mode);
  const screen = startOnScreen(own.file, own.argv, { cwd: self.io.cwd, env: own.env });
  const end = (): void => {
    screen.end().catch((error: unknown) => view.error(messageOf(error)));
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  const { adapter, settings, ...started } = own;
  const limit = new OwnInboxLimit({
    ref,
    name: member.name,
    account: { account: accountOf(adapter, own.env), model: self.flags.model ?? adapter.id },
    version: own.version,
    autoResume: () => settings().teams.autoResume,
  });
  const watch = new OwnInboxWatch(self, ctx, { ...started, id: adapter.id, mode, limit, end });
  return watch.until(screen);
}

interface OwnStart {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Env;
  readonly adapter: Adapter;
  readonly settings: LiveSettings;
  readonly version: string | undefined;
}

/** Writes the files that the CLI's start needs. @throws TeamError SPAWN_FAILED, INVALID_INPUT */
async function startOf(
  self: RunningTeammate,
  ctx: OperationContext,
  mode: PermissionMode,
): Promise<OwnStart> {
  const { io, flags, ref, view, member } = self;
  const { name } = member;
  const live = await settingsOf(self);
  const settings = live();
  const adapter = findAdapter(readMetadata(member, "cli") ?? "", settings.teams.adapters);
  const env = ownEnv(adapter, io.env, agentId(agentName(name), ref.team));
  const file = requireProgram(adapter, env);
  const type = await openAgentType(
    {
      ...{ name: flags.agentType, root: ref.home.root, cwd: io.cwd, env },
      ...{ directory: typesDirectory(member, io.cwd), rules: settings.permissions },
    },
    (line) => view.note(line),
  );
  const prompt =
    flags.agentType === DEFAULT_AGENT_TYPE ? "" : agentTypeOrGeneral(flags.agentType, type.types).prompt;
  const argv = prepareClaude({
    ...{ adapter, flags, mode },
    effort: readMetadata(member, "effort"),
    denials: type.typeDenials,
    instructions: [prompt, readMetadata(member, "promptOverrides")?.append ?? ""]
      .filter(Boolean)
      .join("\n\n"),
    conversation: conversationOf(self, adapter),
    directory: join(ref.paths.agent(name).run, "cli"),
    hook: [...ctx.program, "hook", "--team", ref.team, "--as", name],
    tools: mcpEntry({ program: ctx.program, env, team: ref.team, agent: name, withoutInbox: true }),
  });
  const version = versionOfClaude({ words: [file], env: () => undefined, program: file }, ctx.clock.now());
  const answer = version === undefined ? { problem: "its package does not name it" } : { version };
  acceptVersion(adapter, answer, (text) => view.note(text));
  return { file, argv, env, adapter, settings: live, version };
}

/** Returns the conversation to continue. Another program may have dropped it from the config, or claude may have removed it. */
function conversationOf({ ref, member, view }: RunningTeammate, { id }: Adapter): string | undefined {
  const hook = readHook(ref, member.name);
  const recorded = readMetadata(member, "conversation");
  if (hasConversation(hook)) return recorded ?? hook?.conversation;
  const isLost = recorded !== undefined && hook?.transcript !== undefined && hook.conversation === recorded;
  if (!isLost) return recorded;
  view.note(`${id} no longer has its earlier conversation and starts a new one`);
  return undefined;
}

function ownEnv(adapter: Adapter, env: Env, identity: string): Env {
  const {
    TEAMS_BELL_FD: _fd,
    TEAMS_RESULT: _result,
    TEAMS_HOOK: _hook,
    [RECORDING_VARIABLE]: _recording,
    ...inherited
  } = env;
  return { ...inherited, TEAMS_AGENT: identity, ...adapter.env };
}

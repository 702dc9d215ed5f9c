import type { HookOptions } from "../agent/hooks/hooks.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { mayHaveHooks } from "../settings/hook-mentions.ts";
import { eventSubject } from "../team/members/members.ts";
import { readStatus } from "../team/records/read-records.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";
import { recordEvent } from "../telemetry/event-log.ts";
import { line } from "../terminal/output.ts";
import type { Caller } from "./caller.ts";
import type { OpenTeam } from "./select-team.ts";
import { taskVerifier } from "./task-verifier.ts";

/** Every MCP client waits for a tool at least this many milliseconds: common clients give up after a minute. */
const CLIENT_PATIENCE_MS = 45_000;

/**
 * Returns the gate of a command that adds or completes tasks: the user's hooks, and the verify command of a task.
 * @throws TeamError CORRUPT_FILE for invalid settings
 */
export async function taskHooks(call: Caller, open: OpenTeam, caller?: "client"): Promise<TaskHooks> {
  const { io, out } = call;
  const verify = taskVerifier({
    ref: open.ref,
    env: io.env,
    actor: open.actor,
    note: (text) => out.note(line`${text}`),
    patienceMs: caller === "client" ? CLIENT_PATIENCE_MS : undefined,
  });
  return { ...(await userHooks(call, open)), verify: (task) => verify(task, io.interruption()) };
}

/** Does not parse the settings if no settings file mentions such an event: scripts call these commands many times. */
async function userHooks(call: Caller, open: OpenTeam): Promise<TaskHooks | undefined> {
  const { io, out } = call;
  const { home, ref, config, actor } = open;
  if (!(await mayHaveHooks(home.root, io.cwd, ["TaskCreated", "TaskCompleted"]))) return undefined;
  const [
    { loadSettings },
    { Hooks },
    { recordTaskHooks, taskGate, withoutHooksAbove },
    { isOwnHook, lazySandbox },
  ] = await Promise.all([
    import("../settings/settings.ts"),
    import("../agent/hooks/hooks.ts"),
    import("../operations/task-gate.ts"),
    import("./agent/agent-sandbox.ts"),
  ]);
  const settings = loadSettings(home.root, io.cwd);
  const env = { ...io.env, ...settings.env };
  const member = config.members.find(({ name }) => name === actor);
  const sandbox = lazySandbox(
    {
      ctx: { home, ref, cwd: io.cwd, env },
      name: actor,
      settings: () => settings,
      mode: member && readMetadata(member, "sandbox"),
      addDirs: undefined,
    },
    (text) => out.note(line`${text}`),
  );
  const onNotice: HookOptions["onNotice"] = (event, text) => out.note(line`Hook ${event}: ${text}`);
  const hooks = new Hooks({
    sandbox,
    isOwn: (event, command) => isOwnHook(settings, event, command),
    setting: withoutHooksAbove(settings.hooks, home, io.env),
    sessionId: readStatus(ref, actor)?.sessionId ?? config.leadSessionId,
    cwd: io.cwd,
    env,
    passSecrets: settings.teams.passSecrets,
    onNotice,
    ...recordTaskHooks(home, onNotice, (event, result, ms) =>
      recordEvent(ref, { type: "hook", ...eventSubject(ref, config, actor), event, result, ms }),
    ),
  });
  return taskGate(hooks, { name: actor, team: ref.team }, io.interruption());
}

import { TeamError } from "../errors.ts";
import {
  managedFile,
  mayBeLinked,
  ownProjectFiles,
  readSettingsText,
  userFile,
} from "../settings/settings-files.ts";
import { eventSubject } from "../team/members/members.ts";
import { readStatus } from "../team/records/read-records.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";
import { recordEvent } from "../telemetry/event-log.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/paint.ts";
import type { OpenTeam } from "./select-team.ts";

/**
 * What hooks have to say when a command adds or completes a task. Settings that do not even name such an event are not parsed:
 * these commands are called by scripts, many times.
 * @throws TeamError CORRUPT_FILE for settings that count and are not what they should be
 */
export async function taskHooks(call: AnyCall, open: OpenTeam): Promise<TaskHooks | undefined> {
  const { io, out } = call;
  const { home, ref, config, actor } = open;
  const files = [userFile(home.root), ...ownProjectFiles(home.root, io.cwd), managedFile()];
  if (!files.some(mentionsTasks) && !mayBeLinked(io.cwd)) return undefined;
  const [{ loadSettings }, { Hooks }, { taskGate }] = await Promise.all([
    import("../settings/settings.ts"),
    import("../agent/hooks/hooks.ts"),
    import("../operations/task-gate.ts"),
  ]);
  const settings = loadSettings(home.root, io.cwd);
  const hooks = new Hooks({
    setting: settings.hooks,
    sessionId: readStatus(ref, actor)?.sessionId ?? config.leadSessionId,
    cwd: io.cwd,
    env: { ...io.env, ...settings.env },
    passSecrets: settings.teams.passSecrets,
    notice: (event, text) => out.note(line`Hook ${event}: ${text}`),
    ran: (event, result, ms) =>
      recordEvent(ref, { type: "hook", ...eventSubject(ref, config, actor), event, result, ms }),
  });
  return taskGate(hooks, { name: actor, team: ref.team }, io.interruption());
}

/** One that cannot be read is left to whoever parses it to tell. */
function mentionsTasks(file: string): boolean {
  try {
    return /"Task(Created|Completed)"/.test(readSettingsText(file) ?? "");
  } catch (error) {
    if (error instanceof TeamError) return true;
    throw error;
  }
}

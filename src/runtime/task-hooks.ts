import { TeamError } from "../errors.ts";
import {
  managedFile,
  mayBeLinkedWorktree,
  ownProjectFiles,
  readSettingsText,
  userFile,
} from "../settings/settings-files.ts";
import { eventSubject } from "../team/members/members.ts";
import { readStatus } from "../team/records/read-records.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";
import { recordEvent } from "../telemetry/event-log.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/output.ts";
import type { OpenTeam } from "./select-team.ts";

/**
 * Returns the gate that runs hooks before a command adds or completes a task. Undefined, without parsing the settings, if no
 * settings file mentions such an event: scripts call these commands many times.
 * @throws TeamError CORRUPT_FILE for invalid settings
 */
export async function taskHooks(call: AnyCall, open: OpenTeam): Promise<TaskHooks | undefined> {
  const { io, out } = call;
  const { home, ref, config, actor } = open;
  const files = [userFile(home.root), ...ownProjectFiles(home.root, io.cwd), managedFile()];
  if (!files.some(mentionsTaskEvents) && !mayBeLinkedWorktree(io.cwd)) return undefined;
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
    onNotice: (event, text) => out.note(line`Hook ${event}: ${text}`),
    onRan: (event, result, ms) =>
      recordEvent(ref, { type: "hook", ...eventSubject(ref, config, actor), event, result, ms }),
  });
  return taskGate(hooks, { name: actor, team: ref.team }, io.interruption());
}

/** True for an unreadable file: parsing it then reports the error. */
function mentionsTaskEvents(file: string): boolean {
  try {
    return /"Task(Created|Completed)"/.test(readSettingsText(file) ?? "");
  } catch (error) {
    if (error instanceof TeamError) return true;
    throw error;
  }
}

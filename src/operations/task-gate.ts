import { HOOK_VARIABLE, type HookOptions, type Hooks } from "../agent/hooks/hooks.ts";
import type { HooksSetting } from "../agent/hooks/settings.ts";
import { isSystemError, TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { eventsOfHooksAbove, recordRunningHook, removeEndedHooks } from "../team/records/running-hooks.ts";
import type { Home } from "../team/ref.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";

/**
 * Lets the user's hooks refuse task changes of one member. An interrupted hook has not decided, so the change is not made.
 * @returns undefined if no hook handles these events
 */
export function taskGate(
  hooks: Hooks,
  who: { readonly name: string; readonly team: string },
  signal: AbortSignal,
): TaskHooks | undefined {
  const ask = (event: "TaskCreated" | "TaskCompleted", outcome: string): TaskHooks["created"] =>
    hooks.has(event)
      ? async ({ id, subject, description }) => {
          const { stopped } = await hooks.run(
            event,
            {
              task_id: id,
              task_subject: subject,
              task_description: description,
              teammate_name: who.name,
              team_name: who.team,
            },
            signal,
          );
          if (stopped !== undefined) throw refusal(event, outcome, stopped);
          if (signal.aborted) throw interrupted(event, outcome);
        }
      : undefined;
  const created = ask("TaskCreated", "not added");
  const completed = ask("TaskCompleted", "not completed");
  return created === undefined && completed === undefined ? undefined : { created, completed };
}

function refusal(event: string, outcome: string, why: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `A ${event} hook refused the task, so it was ${outcome}: ${why}`,
    {
      hint: "Do what the hook asks for, then try again.",
    },
  );
}

function interrupted(event: string, outcome: string): TeamError {
  return new TeamError("INTERRUPTED", `A ${event} hook was interrupted, so the task was ${outcome}.`, {
    hint: "Try again, and let the hook finish.",
  });
}

type HookCalls = Required<Pick<HookOptions, "onStarted" | "onRan">>;

/** Records each hook of a task while it runs: `teams` commands below it run no hooks of its event, to prevent an endless loop. */
export function recordTaskHooks(
  home: Home,
  onNotice: HookOptions["onNotice"],
  onRan: HookCalls["onRan"],
): HookCalls {
  const attempt = (event: Parameters<HookCalls["onRan"]>[0], work: () => void): void => {
    if (!event.startsWith("Task")) return;
    try {
      work();
    } catch (error) {
      // Without its record, commands below it run the hooks of its event.
      if (!isSystemError(error) && !(error instanceof TeamError)) throw error;
      onNotice(event, `its record could not be updated: ${error.message}`);
    }
  };
  return {
    onStarted: (event, pid) => attempt(event, () => recordRunningHook(home, event, pid)),
    onRan: (event, ...result) => {
      attempt(event, () => removeEndedHooks(home));
      onRan(event, ...result);
    },
  };
}

/**
 * Returns the hooks that a `teams` command runs: all except those of the events whose hooks have started it. The variable alone is
 * no evidence, because the commands of a model can set it; agents remove it, so that their commands have all hooks.
 */
export function withoutHooksAbove(setting: HooksSetting, home: Home, env: Env): HooksSetting {
  if (env[HOOK_VARIABLE] === undefined) return setting;
  const above = eventsOfHooksAbove(home);
  return Object.fromEntries(Object.entries(setting).filter(([event]) => !above.has(event)));
}

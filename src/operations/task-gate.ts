import type { Hooks } from "../agent/hooks/hooks.ts";
import { TeamError } from "../errors.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";

/**
 * The hooks' say in what one member does to tasks.
 * @returns undefined where no hook has any, so that nothing is done for it
 */
export function taskGate(
  hooks: Hooks,
  who: { readonly name: string; readonly team: string },
  signal: AbortSignal,
): TaskHooks | undefined {
  const ask = (event: "TaskCreated" | "TaskCompleted", undone: string): TaskHooks["created"] =>
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
          if (stopped !== undefined) throw refusal(event, undone, stopped);
        }
      : undefined;
  const created = ask("TaskCreated", "not added");
  const completed = ask("TaskCompleted", "not completed");
  return created === undefined && completed === undefined ? undefined : { created, completed };
}

function refusal(event: string, undone: string, why: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `A ${event} hook refused it, and the task was ${undone}: ${why}`,
    {
      hint: "Do what the hook asks for, and try again.",
    },
  );
}

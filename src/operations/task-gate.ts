import type { Hooks } from "../agent/hooks/hooks.ts";
import { TeamError } from "../errors.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";

/**
 * Lets the user's hooks refuse task changes of one member.
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

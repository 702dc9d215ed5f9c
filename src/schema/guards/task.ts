import { type Task, type TaskStatus, taskNumbered } from "../task.ts";
import {
  type Form,
  type Guard,
  isRecord,
  isText,
  isTextList,
  looseObject,
  oneOf,
  optional,
} from "./guard.ts";

const STATUSES: Readonly<Record<TaskStatus, true>> = { pending: true, in_progress: true, completed: true };

const isId: Guard<string> = (value): value is string => isText(value) && /^[1-9][0-9]{0,14}$/.test(value);

export const isPlainTask = looseObject<Task>({
  id: isId,
  subject: isText,
  description: isText,
  activeForm: optional(isText),
  status: oneOf(STATUSES),
  owner: optional(isText),
  blocks: isTextList,
  blockedBy: isTextList,
  metadata: optional(isRecord),
});

/** The form of a task whose id comes from its file name. */
export function taskForm(id: string): Form<Task> {
  return {
    guard: (value): value is Task => isPlainTask(value) && value.id === id,
    schema: () => taskNumbered(id),
  };
}

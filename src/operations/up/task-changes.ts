import { isDeepStrictEqual } from "node:util";
import { ownSecrets, redactText } from "../../os/redact.ts";
import { defined } from "../../schema/defined.ts";
import { sameName } from "../../schema/names.ts";
import { keptText, type TaskFields } from "../../team/tasks/task-fields.ts";
import type { ProvenTask } from "../../team/tasks/task-proof.ts";
import { ownerName } from "../../team/tasks/tasks.ts";
import type { DeclaredTask } from "./declared-team.ts";

/** The fields of an open task that differ from its declaration. */
export interface TaskChange {
  readonly id: string;
  readonly subject: string;
  /** The values of the changed fields before. */
  readonly before: TaskFields;
  readonly fields: TaskFields;
}

/** Compares open tasks with their declarations: the command, the reviewer and the files that a declaration names. */
export function taskChanges(
  declared: readonly DeclaredTask[],
  existing: readonly ProvenTask[],
): readonly TaskChange[] {
  return declared.flatMap((wanted) => {
    const task = existing.find(({ subject }) => subject === wanted.subject);
    if (task === undefined || task.status === "completed") return [];
    const fields = changedFields(wanted, task);
    if (Object.keys(fields).length === 0) return [];
    const { id, subject, verify, reviewer, touches } = task;
    const old = { verify: verify ?? undefined, reviewer: reviewer ?? undefined, touches };
    const before = Object.fromEntries(Object.entries(old).filter(([key]) => key in fields));
    return [{ id, subject, before: defined(before), fields }];
  });
}

function changedFields({ verify, reviewer, touches }: DeclaredTask, task: ProvenTask): TaskFields {
  // Secrets are redacted in the stored command.
  const isSameVerify = verify !== undefined && redactText(verify, ownSecrets()) === task.verify;
  const isSameReviewer = reviewer !== undefined && sameName(reviewer, task.reviewer ?? "");
  const isSameTouches = isDeepStrictEqual(touches, task.touches);
  return defined({
    verify: isSameVerify ? undefined : verify,
    reviewer: isSameReviewer ? undefined : reviewer,
    touches: isSameTouches ? undefined : touches,
  });
}

/** Returns a sentence for each difference between an open task and its declaration that `up` does not change. @param file the team file */
export function taskDifferences(
  declared: readonly DeclaredTask[],
  existing: readonly ProvenTask[],
  file: string,
): readonly string[] {
  return declared.flatMap((wanted) => {
    const task = existing.find(({ subject }) => subject === wanted.subject);
    if (task === undefined || task.status === "completed") return [];
    const blockers = existing.filter(({ id }) => task.blockedBy.includes(id)).map(({ subject }) => subject);
    const isOthers =
      task.status === "pending" &&
      wanted.owner !== undefined &&
      !sameName(wanted.owner, ownerName(task) ?? "");
    const update = [
      ...(hasOtherDescription(wanted, task) ? ["description"] : []),
      ...(isOthers ? ["owner"] : []),
    ];
    const [differ, them] = update.length === 1 ? ["differs", "it"] : ["differ", "them"];
    const lacks = wanted.blockedBy.some((subject) => !blockers.includes(subject));
    return [
      ...(update.length === 0
        ? []
        : [
            `Task #${task.id} keeps its ${update.join(" and ")}, which ${differ} from ${file}. To change ${them}: teams task update ${task.id}`,
          ]),
      ...(lacks
        ? [`Task #${task.id} lacks blockers that ${file} declares. To add them: teams task dep ${task.id}`]
        : []),
    ];
  });
}

function hasOtherDescription({ description }: DeclaredTask, task: ProvenTask): boolean {
  return description !== undefined && keptText(description) !== task.description;
}

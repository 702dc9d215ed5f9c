import type { Task } from "../../schema/task.ts";
import { withExpiredUnassigned } from "../../team/tasks/lease.ts";
import { type ProvenTask, withProofs } from "../../team/tasks/task-proof.ts";
import { listTasks, ownerName } from "../../team/tasks/tasks.ts";
import { memberByAddress, type OpenTeam } from "../select-team.ts";

export interface ListedTasks {
  /** The wanted tasks, by number. */
  readonly tasks: readonly ProvenTask[];
  readonly all: readonly ProvenTask[];
  /** Ids of tasks whose files cannot be read. */
  readonly broken: readonly string[];
}

/**
 * Lists the tasks of a team, each with its reported and its verified state. A task whose owner's lease has expired appears unassigned.
 * @param owner the address of a member
 * @throws TeamError AGENT_NOT_FOUND for the owner
 */
export function listedTasks(
  { ref, config }: OpenTeam,
  { status, owner }: { readonly status?: Task["status"] | undefined; readonly owner?: string | undefined },
): ListedTasks {
  const name = owner === undefined ? undefined : memberByAddress(ref, config, owner).name;
  const broken: string[] = [];
  const all = withProofs(ref, withExpiredUnassigned(listTasks(ref, (_, id) => broken.push(id))));
  const isWanted = (task: ProvenTask): boolean =>
    (status === undefined || task.status === status) && (name === undefined || ownerName(task) === name);
  return { tasks: all.filter(isWanted), all, broken };
}

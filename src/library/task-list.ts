import { TeamError } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { confirmsVerify } from "../runtime/commands/confirms-verify.ts";
import { listedTasks } from "../runtime/commands/listed-tasks.ts";
import { taskNumber } from "../runtime/commands/task-number.ts";
import { memberByAddress, type OpenTeam } from "../runtime/select-team.ts";
import { taskHooks } from "../runtime/task-hooks.ts";
import { defined } from "../schema/defined.ts";
import { visibleMetadata } from "../schema/guards/visible-metadata.ts";
import type { TeamRef } from "../team/ref.ts";
import { claimTask } from "../team/tasks/claim-task.ts";
import { type ProvenTask, withProof } from "../team/tasks/task-proof.ts";
import type { TaskUpdate } from "../team/tasks/task-rules.ts";
import { getTask } from "../team/tasks/tasks.ts";
import { addTask, type TaskHooks, updateTask } from "../team/tasks/update-task.ts";
import { brokenTasksNote } from "../terminal/status-line.ts";
import type { TeamAccess } from "./access.ts";
import { attempt } from "./attempt.ts";
import { requireChoices, requireOpenKeys, requireText, requireTexts } from "./checks.ts";
import type { Cancellable, NewTask, TaskChange } from "./options.ts";
import type { Tasks } from "./parts.ts";
import type { Task, TaskStatus } from "./values.ts";

/**
 * Returns the tasks of a team, or those of one member.
 * @param owner the member that acts, owns new tasks, and whose tasks are listed; without it, the acting member acts, and lists all tasks
 */
export function taskList(access: TeamAccess, owner?: string): Tasks {
  const acting = (): TeamAccess => (owner === undefined ? access : access.as(owner));
  const change = async (
    signal: AbortSignal,
    id: string,
    update: TaskUpdate,
    asOwner: TeamAccess,
  ): Promise<Task | undefined> => {
    const open = asOwner.open();
    const number = idOf(id);
    const { verify } = update;
    const confirms = confirmsVerify(open.ref, access.host.env, { id: number, verify });
    // Only a completion runs the hooks and the verify command, which can take a long time.
    const hooks = update.status === "completed" ? await taskHooks(access.caller(signal), open) : {};
    const gate: TaskHooks = { ...hooks, confirms };
    const task = await updateTask(open.ref, open.actor, number, update, systemClock, gate);
    if (verify && !confirms) noteProposal(access, number);
    return task && provenTask(open.ref, task);
  };
  return {
    add: (task, { signal } = {}) => attempt(signal, (own) => add(access, task, owner, own)),
    list: (filter = {}) =>
      attempt(undefined, () => list(access, { ...defined(filter), ...defined({ owner }) })),
    get: (id) => attempt(undefined, () => provenTask(access.ref, getTask(access.open().ref, idOf(id)))),
    claim: (id, { exclusive = false } = {}) =>
      attempt(undefined, async () => {
        const { ref, actor } = acting().open();
        const number = id === undefined ? undefined : idOf(id);
        return provenTask(ref, await claimTask(ref, actor, number, { exclusive }));
      }),
    update: (id, given, { signal } = {}) =>
      attempt(signal, async (own) => {
        const member = acting();
        const update = updateOf(given, member.open());
        return existing(id, await change(own, id, update, member));
      }),
    done: (id, { signal }: Cancellable = {}) =>
      attempt(signal, async (own) => existing(id, await change(own, id, { status: "completed" }, acting()))),
    remove: (id) =>
      attempt(undefined, async () => {
        const { ref, actor } = acting().open();
        await updateTask(ref, actor, idOf(id), { status: "deleted" });
      }),
  };
}

async function add(
  access: TeamAccess,
  given: NewTask,
  owner: string | undefined,
  signal: AbortSignal,
): Promise<Task> {
  const open = access.open();
  const { ref, config, actor } = open;
  const nameOf = (address: string): string => memberByAddress(ref, config, address).name;
  requireText(given.subject, "subject");
  requireTexts(textsOf(given));
  requireOpenKeys(given.metadata);
  const { reviewer, verify = "", blockedBy = [], ...rest } = defined(given);
  const to = given.owner ?? owner;
  const command = verify.trim() || undefined;
  const confirms = confirmsVerify(ref, access.host.env, { verify: command });
  const gate: TaskHooks = { ...(await taskHooks(access.caller(signal), open)), confirms };
  const task = await addTask(
    ref,
    actor,
    {
      ...rest,
      blockedBy: blockedBy.map(idOf),
      ...defined({
        owner: to === undefined ? undefined : nameOf(to),
        reviewer: reviewer && nameOf(reviewer),
        verify: command,
      }),
    },
    systemClock,
    gate,
  );
  if (command !== undefined && !confirms) noteProposal(access, task.id);
  return provenTask(ref, task);
}

function list(
  access: TeamAccess,
  filter: { readonly status?: TaskStatus; readonly owner?: string },
): readonly Task[] {
  requireChoices({ status: filter.status });
  const { tasks, broken } = listedTasks(access.open(), filter);
  if (broken.length > 0) access.host.note(brokenTasksNote(broken));
  return tasks.map(visibleTask);
}

/** Returns the fields of a task that must be strings. */
function textsOf({ subject, description, activeForm, owner, reviewer, verify }: TaskChange) {
  return { subject, description, activeForm, owner, reviewer, verify };
}

function updateOf(given: TaskChange, { ref, config }: OpenTeam): TaskUpdate {
  requireTexts(textsOf(given));
  requireOpenKeys(given.metadata);
  requireChoices({ status: given.status });
  const nameOf = (address: string | undefined): string | undefined =>
    address ? memberByAddress(ref, config, address).name : address;
  const { addBlockedBy, removeBlockedBy, verify, owner, reviewer, ...rest } = defined(given);
  return {
    ...rest,
    ...defined({
      owner: nameOf(owner),
      reviewer: nameOf(reviewer),
      verify: verify?.trim(),
      addBlockedBy: addBlockedBy?.map(idOf),
      removeBlockedBy: removeBlockedBy?.map(idOf),
    }),
  };
}

function noteProposal({ host }: TeamAccess, id: string): void {
  host.note(`The verify command of task #${id} runs only after a person has confirmed it.`);
}

function provenTask(ref: TeamRef, task: Parameters<typeof withProof>[1]): Task {
  return visibleTask(withProof(ref, task));
}

/** Returns a task without the metadata of programs, whose keys an update would refuse. */
function visibleTask(task: ProvenTask): Task {
  return { ...task, metadata: visibleMetadata(task.metadata) };
}

/** Only a deletion returns no task. */
function existing(id: string, task: Task | undefined): Task {
  if (task !== undefined) return task;
  throw new TeamError("TASK_NOT_FOUND", `Task #${id} does not exist; nothing was changed.`);
}

/** @throws TeamError INVALID_INPUT */
function idOf(word: string): string {
  requireText(word, "id of the task");
  return taskNumber(word, 'Pass the id of a task as a string: "3".');
}

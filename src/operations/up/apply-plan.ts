import { TeamError } from "../../errors.ts";
import { defined } from "../../schema/defined.ts";
import { notifyPending } from "../../team/tasks/notify-owners.ts";
import { pendingAssignment, withPendingAssignment } from "../../team/tasks/pending-notifications.ts";
import { changeTask, createTask, listTasks, ownerName, reserveTaskId } from "../../team/tasks/tasks.ts";
import { type TaskHooks, updateTask } from "../../team/tasks/update-task.ts";
import { confirmVerify } from "../../team/tasks/verify-record.ts";
import { operand } from "../../text/shell-quote.ts";
import { budget, type KnownCosts } from "../budget.ts";
import type { OperationContext } from "../context.ts";
import type { PeerAnswer } from "../peer-mode.ts";
import { setPermissionMode } from "../permission-mode.ts";
import { resumeMember } from "../resume/resume.ts";
import type { SpawnInput } from "../spawn/draft-member.ts";
import { type SpawnedTeammate, type SpawnOptions, spawnTeammates } from "../spawn/spawn.ts";
import type { DeclaredTask } from "./declared-team.ts";
import type { TeamPlan } from "./plan-team.ts";

interface ApplyOptions {
  readonly spawn: SpawnOptions;
  readonly costs: KnownCosts;
  readonly hooks: TaskHooks | undefined;
  /** The spawn input of each member of the plan. */
  readonly inputs: readonly SpawnInput[];
}

/** The changes that were made. */
export interface AppliedPlan {
  readonly started: readonly SpawnedTeammate[];
  readonly resumed: readonly string[];
  readonly tasks: readonly { readonly id: string; readonly subject: string }[];
  /** By member: whether a program that reads its inbox itself takes its new mode. */
  readonly modeAnswers: ReadonlyMap<string, PeerAnswer>;
}

/**
 * Makes the changes of a plan in an existing team. Adds tasks before it starts members, so that the members find them.
 * @throws TeamError the first failure; its message says what was done, and that another `up` continues
 */
export async function applyPlan(
  ctx: OperationContext,
  plan: TeamPlan,
  options: ApplyOptions,
): Promise<AppliedPlan> {
  const done: string[] = plan.isNew ? [`team ${ctx.ref.team} was created`] : [];
  const tasks: { id: string; subject: string }[] = [];
  const resumed: string[] = [];
  const modeAnswers = new Map<string, PeerAnswer>();
  try {
    for (const { name, mode } of plan.modes) {
      const forbidden = options.spawn.bypassForbidden;
      const onPeer = (answer: PeerAnswer): void => void modeAnswers.set(name, answer);
      await setPermissionMode(ctx, name, mode, { decider: "person", forbidden, onPeer });
      done.push(
        modeAnswers.has(name) ? `${name} was asked to change to mode ${mode}` : `${name} is in mode ${mode}`,
      );
    }
    for (const { name, limits } of plan.budgets) {
      await budget(ctx, name, limits, options.costs);
      done.push(`the budget of ${name ?? "the team"} was changed`);
    }
    for (const task of plan.tasks) {
      tasks.push(await addDeclaredTask(ctx, task, options.hooks));
    }
    for (const name of plan.resumed) {
      resumed.push(await restart(ctx, name, options.spawn));
    }
    const { inputs, spawn } = options;
    const started = inputs.length === 0 ? [] : await spawnTeammates(ctx, inputs, spawn);
    done.push(...started.map(({ name }) => `${name} was started`));
    // A reviewer may have joined just now.
    for (const { id, fields } of plan.taskChanges) {
      await updateTask(ctx.ref, ctx.actor, id, fields, ctx.clock, { confirms: true });
      done.push(`task #${id} was changed`);
    }
    await notifyOwners(ctx, tasks, started);
    return { started, resumed, tasks, modeAnswers };
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    if (tasks.length > 0)
      done.push(`${tasks.length === 1 ? "1 task was" : `${tasks.length} tasks were`} added`);
    done.push(...resumed.map((name) => `${name} was restarted`));
    throw cutOff(error, done, ctx.ref.team);
  }
}

/**
 * Notifies the owners of added tasks. A started member is notified of every open task that it owns: another process may have
 * tried to notify it before it was a member, or an `up` that failed half-way may have added the task.
 */
async function notifyOwners(
  { ref, actor, clock }: OperationContext,
  added: AppliedPlan["tasks"],
  started: readonly SpawnedTeammate[],
): Promise<void> {
  for (const task of listTasks(ref)) {
    const owner = ownerName(task);
    const isNew = started.some(({ name }) => name === owner);
    if (owner === undefined || task.status === "completed") continue;
    if (!isNew && !added.some(({ id }) => id === task.id)) continue;
    const isPending = !isNew || pendingAssignment(task) !== undefined;
    const assigned = isPending
      ? task
      : await changeTask(ref, task.id, (current) => withPendingAssignment(current, owner, actor));
    await notifyPending(ref, assigned, clock);
  }
}

/** Adds a task. Its owner may join later in this `up`, and is notified then. */
async function addDeclaredTask(
  { ref, actor, clock }: OperationContext,
  { subject, description, owner, blockedBy, metadata, verify, reviewer, touches }: DeclaredTask,
  hooks: TaskHooks | undefined,
): Promise<{ id: string; subject: string }> {
  const all = listTasks(ref);
  const blockers = blockedBy.flatMap((one) => all.find((task) => task.subject === one)?.id ?? []);
  const reserved = hooks?.created === undefined ? undefined : await reserveTaskId(ref);
  if (reserved !== undefined)
    await hooks?.created?.({ id: reserved, subject, description: description ?? "" });
  // Checked again: another process may have added the task since the plan was made.
  const assertMay = (): void => {
    if (listTasks(ref).some((task) => task.subject === subject)) throw addedMeanwhile(subject);
  };
  const { id } = await createTask(
    ref,
    {
      subject,
      blockedBy: blockers,
      ...(description === undefined ? {} : { description }),
      ...(owner === undefined ? {} : { owner, assignedBy: actor }),
      ...defined({ metadata, verify, reviewer, touches }),
    },
    { reserved, assertMay, actor },
  );
  // Only a person starts a declared team, after the file that names the command was trusted.
  if (verify !== undefined) await confirmVerify(ref, id, verify, clock.now());
  return { id, subject };
}

function addedMeanwhile(subject: string): TeamError {
  const message = `Another command has added the task ${JSON.stringify(subject)} meanwhile; it was not added again.`;
  return new TeamError("TASK_CONFLICT", message, {
    hint: "Run teams up again: it first compares the file with the team.",
    details: { reason: "added_meanwhile", subject },
  });
}

/** @throws TeamError if it could not be restarted */
async function restart(
  ctx: OperationContext,
  name: string,
  { background, signal }: SpawnOptions,
): Promise<string> {
  const { outcome, error } = await resumeMember(ctx, name, defined({ background, signal }));
  if (outcome !== "failed" && outcome !== "down") return name;
  throw new TeamError(
    signal?.aborted ? "INTERRUPTED" : "SPAWN_FAILED",
    `${name} could not be restarted: ${error?.message ?? "another command began to restart it and failed"}`,
    error?.hint == null ? {} : { hint: error.hint },
  );
}

function cutOff(error: TeamError, done: readonly string[], team: string): TeamError {
  if (done.length === 0) return error;
  const next = `To continue, run the command again with --yes. To give up: teams kill ${operand(team)}`;
  return new TeamError(error.code, `${error.message}\nBefore that, ${done.join("; ")}. All of that stays.`, {
    hint: [error.hint, next].filter((text) => text !== undefined).join("\n"),
    details: { ...error.details, done },
    cause: error,
  });
}

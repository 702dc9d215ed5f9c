import { messageOf, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { deleteTeam } from "../../operations/ending/delete-team.ts";
import { readWorktreeStatuses } from "../../operations/worktrees/worktree-status.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { isTyped } from "../../schema/inbox.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { listTeams, readTeam } from "../../team/config/config.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { isLed } from "../../team/members/led.ts";
import { setKnownEmpty } from "../../team/records/empty-sessions.ts";
import { type TeamRef, teamAt, teamsHome } from "../../team/ref.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { operand } from "../../text/shell-quote.ts";
import { openOwnTeam, operationContext } from "../operation-context.ts";
import { isEmptySession } from "./session-list.ts";

/**
 * Deletes the team of a session that no process leads. The conversations stay on the disk.
 * @throws TeamError ALREADY_LEADING, ACTIVE_MEMBERS, and as {@link requireFinished}; then the team's files are still there
 */
export async function deleteSession(ctx: OperationContext): Promise<void> {
  const { ref } = ctx;
  if (isLed(ref, readTeam(ref)))
    throw new TeamError("ALREADY_LEADING", `${ref.team} is led by another process. Nothing was deleted.`, {
      hint: "End the run or the client that leads it first.",
    });
  await requireFinished(ctx);
  await deleteTeam(ctx, {
    beforeRemoval: (config) => {
      if (isLed(ref, config)) throw usedMeanwhile(ref);
    },
  });
}

/** Creates the error for a session that another client has loaded during its deletion. */
function usedMeanwhile({ team }: TeamRef): TeamError {
  const message = `Another process opened ${team} meanwhile, so the deletion stopped: the team and its files are kept.`;
  return new TeamError("ALREADY_LEADING", `${message} Clean worktrees of ended members may be gone.`, {
    hint: "End the run or the client that leads it, then delete the session again.",
  });
}

/**
 * Requires that the deletion of a team loses no work: a user who clicks in a list of sessions sees no warning.
 * @throws TeamError AGENT_BUSY, whose message names the unfinished work
 */
export async function requireFinished(ctx: OperationContext): Promise<void> {
  const { ref } = ctx;
  const left = [...openTasks(ctx), ...waitingPrompts(ctx), ...(await changedWorktrees(ctx))];
  if (left.length === 0) return;
  throw new TeamError(
    "AGENT_BUSY",
    `${ref.team} has unfinished work: ${left.join("; ")}. Nothing was deleted.`,
    { hint: `Finish the work first. To delete the team anyway: teams delete --force ${operand(ref.team)}` },
  );
}

/**
 * Deletes sessions that never had a prompt and whose process was killed: clients open one for each new window, and kill their agents.
 * They can still be loaded, see {@link setKnownEmpty}.
 * @param problem receives the reason why a session could not be deleted
 */
export async function deleteAbandoned(call: AnyCall, problem: (text: string) => void): Promise<void> {
  const home = teamsHome(call.io.env);
  for (const { team, config, ours } of listTeams(home)) {
    if (!ours || config === undefined) continue;
    const ref = teamAt(home, team);
    try {
      if (!isAbandoned(ref, config)) continue;
      await setKnownEmpty(home, team, true);
      const ctx = await operationContext(call, openOwnTeam(call.io.env, { force: false }, team));
      if (!(await deleteIfAbandoned(ctx))) await setKnownEmpty(home, team, false);
    } catch (error) {
      // Another process has deleted it.
      if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) problem(messageOf(error));
    }
  }
}

/** @returns false if the team was kept because another client has loaded the session since the list was read */
async function deleteIfAbandoned(ctx: OperationContext): Promise<boolean> {
  const { ref } = ctx;
  let mayDelete = isAbandoned(ref, readTeam(ref));
  const beforeRemoval = (config: TeamConfig): void => {
    mayDelete = isAbandoned(ref, config);
    if (!mayDelete) throw usedMeanwhile(ref);
  };
  try {
    if (mayDelete) await deleteTeam(ctx, { beforeRemoval });
  } catch (error) {
    // Any other error is from the check itself, and the result reports it.
    if (mayDelete) throw error;
  }
  return mayDelete;
}

function isAbandoned(ref: TeamRef, config: TeamConfig): boolean {
  const { leadProcess } = config;
  return leadProcess !== undefined && livenessOf(leadProcess) === "dead" && isEmptySession(ref, config);
}

function openTasks({ ref }: OperationContext): string[] {
  let count = 0;
  const tasks = listTasks(ref, () => {
    // A task that cannot be read may be open.
    count += 1;
  });
  count += tasks.filter(({ status }) => status !== "completed").length;
  return count === 0 ? [] : [count === 1 ? "1 open task" : `${count} open tasks`];
}

function waitingPrompts({ ref }: OperationContext): string[] {
  const isWaiting = peekInbox(ref, LEAD_NAME).some((message) => !message.read && isTyped(message));
  return isWaiting ? ["a prompt that the lead has not read"] : [];
}

async function changedWorktrees(ctx: OperationContext): Promise<string[]> {
  const statuses = await readWorktreeStatuses(ctx);
  return [...statuses].flatMap(([name, status]) => {
    if ("problem" in status) return [`the worktree of ${name}, which git cannot read: ${status.problem}`];
    return status.dirty || status.ahead > 0 ? [`changes in the worktree of ${name}`] : [];
  });
}

import { TeamError } from "../errors.ts";
import { follow } from "../operations/follow-team.ts";
import { teamStatus } from "../operations/status.ts";
import { unmetCondition } from "../operations/wait-condition.ts";
import { memberByAddress } from "../runtime/select-team.ts";
import { history } from "../team/mailbox/history.ts";
import { listTasks, ownerName } from "../team/tasks/tasks.ts";
import type { TeamAccess } from "./access.ts";
import { attempt, interrupted, requireMilliseconds } from "./attempt.ts";
import type { TeammateCondition, WaitCondition } from "./parts.ts";
import type { TeamStatus } from "./values.ts";

/** Waits until a team meets the conditions; see `Team.wait`. */
export function waitForTeam(access: TeamAccess, condition: WaitCondition = {}): Promise<TeamStatus> {
  const { idle, tasks = false, message = false, until, signal, timeoutMs } = condition;
  return attempt(signal, async (own) => {
    requireMilliseconds(timeoutMs, "timeoutMs");
    const { ref, config } = access.open();
    const given = typeof idle === "object" ? idle : [];
    const names = given.map((address) => memberByAddress(ref, config, address).name);
    const wanted = {
      idle: idle === undefined ? !(tasks || message || until) : idle !== false,
      ...{ tasks, message, names },
    };
    const ctx = access.filesContext(own);
    let status: TeamStatus | undefined;
    let unmet = "";
    const check = async (): Promise<boolean> => {
      const now = await teamStatus(ctx);
      status = now;
      // First, and at each change: it may answer the requests that the other conditions wait for.
      const isTrue = until === undefined || (await until(now)) === true;
      // An empty list of names would mean all teammates.
      const isEmpty = typeof idle === "object" && idle.length === 0;
      const missing = unmetCondition(now, isEmpty ? { ...wanted, idle: false } : wanted, ctx);
      unmet = missing ?? "the condition `until` is not true";
      return missing === undefined && isTrue;
    };
    const outcome = await follow(ref, check, { signal: own, timeoutMs });
    if (outcome === "done" && status !== undefined) return status;
    if (outcome === "timeout")
      throw new TeamError("TIMEOUT", `After ${timeoutMs} ms ${unmet}.`, {
        hint: "Look at the status of the team.",
      });
    throw interrupted(own, `The wait was interrupted: ${unmet}.`);
  });
}

/** Waits until a member meets the conditions; see `Teammate.wait`. */
export function waitForMember(
  access: TeamAccess,
  name: string,
  condition: TeammateCondition = {},
): Promise<TeamStatus> {
  const { idle, tasks = false, message = false, until, ...limits } = condition;
  const isIdleWanted = idle ?? !(tasks || message || until);
  const areTasksDone = (): boolean =>
    listTasks(access.ref).every((task) => ownerName(task) !== name || task.status === "completed");
  const hasWritten = async (): Promise<boolean> =>
    (await history(access.ref, access.actor, { unread: true, from: name })).length > 0;
  const isMet = async (status: TeamStatus): Promise<boolean> => {
    const isTrue = until === undefined || (await until(status)) === true;
    return isTrue && (!tasks || areTasksDone()) && (!message || (await hasWritten()));
  };
  return waitForTeam(access, { ...limits, idle: isIdleWanted ? [name] : false, until: isMet });
}

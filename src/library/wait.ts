import { TeamError } from "../errors.ts";
import { follow } from "../operations/follow-team.ts";
import { teamStatus } from "../operations/status.ts";
import { unmetCondition, type WaitCondition, type WaitContext } from "../operations/wait-condition.ts";
import { memberByAddress } from "../runtime/select-team.ts";
import { history } from "../team/mailbox/history.ts";
import { ownerName } from "../team/tasks/tasks.ts";
import { brokenTasksNote } from "../terminal/status-line.ts";
import type { TeamAccess } from "./access.ts";
import { attempt, interrupted, ofCaller } from "./attempt.ts";
import { requireMilliseconds } from "./checks.ts";
import type { TimeLimited } from "./options.ts";
import type { TeammateWaitOptions, WaitOptions } from "./parts.ts";
import type { MemberStatus, TeamStatus } from "./values.ts";

/** Describes the first condition that is not met yet, as the rest of a sentence; undefined if all are met. */
type Unmet = (status: Status, ctx: WaitContext) => Promise<string | undefined> | string | undefined;
type Status = Awaited<ReturnType<typeof teamStatus>>;

/** Waits until a team meets the conditions; see `Team.wait`. */
export function waitForTeam(access: TeamAccess, options: WaitOptions = {}): Promise<TeamStatus> {
  const { idle, tasks = false, message = false, until } = options;
  return waitUntil(access, options, () => {
    const { ref, config } = access.open();
    const given = typeof idle === "object" ? idle : [];
    const names = given.map((address) => memberByAddress(ref, config, address).name);
    const isIdleWanted = idle === undefined ? !(tasks || message || until) : idle !== false;
    // An empty list of names would mean all teammates.
    const isEmpty = typeof idle === "object" && idle.length === 0;
    const wanted = { idle: isIdleWanted && !isEmpty, tasks, message, names };
    return (status, ctx) => unmetCondition(status, wanted, ctx);
  });
}

/** Waits until a member meets the conditions; see `Teammate.wait`. */
export function waitForMember(
  access: TeamAccess,
  name: string,
  options: TeammateWaitOptions = {},
): Promise<TeamStatus> {
  const { idle, tasks = false, message = false, until } = options;
  const isIdleWanted = idle ?? !(tasks || message || until);
  const idleCondition: WaitCondition = { idle: true, tasks: false, message: false, names: [name] };
  return waitUntil(access, options, () => async (status, ctx) => {
    memberIn(status, name);
    const busy = isIdleWanted ? unmetCondition(status, idleCondition, ctx) : undefined;
    if (busy !== undefined) return busy;
    const missing =
      (tasks ? openTasksOf(status, name) : undefined) ??
      (message ? await missingMessage(access, name) : undefined);
    // A member that crashed neither completes a task nor sends a message.
    if (missing !== undefined) unmetCondition(status, idleCondition, ctx);
    return missing;
  });
}

/** Returns a member of a status. @throws TeamError AGENT_NOT_FOUND if it has left the team */
export function memberIn({ team, members }: TeamStatus, name: string): MemberStatus {
  const found = members.find((member) => member.name === name);
  if (found !== undefined) return found;
  throw new TeamError("AGENT_NOT_FOUND", `${name} is no longer a member of ${team}.`);
}

/** @param prepare returns what to wait for; called once */
function waitUntil(
  access: TeamAccess,
  { tasks, until, signal, timeoutMs }: TimeLimited & Pick<WaitOptions, "tasks" | "until">,
  prepare: () => Unmet,
): Promise<TeamStatus> {
  return attempt(signal, async (own) => {
    requireMilliseconds(timeoutMs);
    const unmetNow = prepare();
    const ctx = access.filesContext(own);
    let status: Status | undefined;
    let unmet: string | undefined = "the status was not read yet";
    const reported = new Set<string>();
    const check = async (): Promise<boolean> => {
      const now = await teamStatus(ctx);
      status = now;
      if (tasks) noteBrokenTasks(access, now, reported);
      // Call `until` first, and at each change: it may answer the requests that the other conditions wait for.
      const isTrue = until === undefined || (await ofCaller(() => until(now))) === true;
      unmet = (await unmetNow(now, ctx)) ?? (isTrue ? undefined : "the condition `until` is not met");
      return unmet === undefined;
    };
    const outcome = await follow(access.ref, check, { signal: own, timeoutMs });
    if (outcome === "done" && status !== undefined) return status;
    if (outcome === "interrupted") throw interrupted(own, `The wait was interrupted: ${unmet}.`);
    throw new TeamError("TIMEOUT", `After ${timeoutMs} ms ${unmet}.`, {
      hint: "See the status of the team: teams status",
    });
  });
}

/** Reports each unreadable task once: it is unknown whether the task is completed. */
function noteBrokenTasks({ host }: TeamAccess, { tasks }: Status, reported: Set<string>): void {
  const broken = (tasks.broken ?? []).filter((id) => !reported.has(id));
  if (broken.length > 0) host.note(brokenTasksNote(broken));
  for (const id of broken) reported.add(id);
}

function openTasksOf({ tasks }: Status, name: string): string | undefined {
  const own = tasks.list.filter((task) => ownerName(task) === name);
  const open = own.filter(({ status }) => status !== "completed").length;
  return open === 0 ? undefined : `${open} of ${own.length} tasks of ${name} are not completed`;
}

/** Returns the unmet condition, as {@link Unmet}, if the acting member has no unread message from a member. */
async function missingMessage({ ref, actor }: TeamAccess, name: string): Promise<string | undefined> {
  const found = await history(ref, actor, { unread: true, from: name });
  return found.length > 0 ? undefined : `there is no unread message from ${name} to ${actor}`;
}

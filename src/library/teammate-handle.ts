import { TeamError } from "../errors.ts";
import { currentStatus } from "../operations/current-status.ts";
import { resumeMember } from "../operations/resume/resume.ts";
import { sameName, splitAddress } from "../schema/names.ts";
import type { TeamAccess } from "./access.ts";
import { approvalList } from "./approval-list.ts";
import { attempt, interrupted } from "./attempt.ts";
import { followEvents } from "./events.ts";
import { requireProgram } from "./host.ts";
import { interrupt, kill, peek, setBudget, setMode, shutdown } from "./members.ts";
import { readInbox, send } from "./messages.ts";
import type { ResumedMember } from "./reports.ts";
import { taskList } from "./task-list.ts";
import type { Teammate } from "./teammate.ts";
import type { TeamEvent } from "./values.ts";
import { memberIn, waitForMember } from "./wait.ts";

/** Returns a member as the library shows it. @param name as the team spells it */
export function teammateHandle(access: TeamAccess, name: string): Teammate {
  const isOwn = ({ agentId }: TeamEvent): boolean =>
    agentId !== undefined && sameName(splitAddress(agentId).name, name);
  return {
    name,
    get team() {
      return access.ref.team;
    },
    tasks: taskList(access, name),
    approvals: approvalList(access, name),
    send: (text, options) => attempt(undefined, () => send(access, name, text, options)),
    status: () =>
      attempt(undefined, async (signal) => {
        const ctx = await access.fullContext(signal);
        return memberIn(await currentStatus(ctx, { git: false }), name);
      }),
    wait: async (options) => memberIn(await waitForMember(access, name, options), name),
    events: (options) => followEvents(access.ref, { ...options, isWanted: isOwn }),
    inbox: (options) => attempt(undefined, () => readInbox(access, name, options)),
    peek: (options) => attempt(undefined, (signal) => peek(access, name, signal, options)),
    interrupt: ({ signal } = {}) => attempt(signal, (own) => interrupt(access, name, own)),
    setMode: (mode) => attempt(undefined, (signal) => setMode(access, name, mode, signal)),
    setBudget: (limits) => attempt(undefined, (signal) => setBudget(access, name, limits, signal)),
    shutdown: (options = {}) =>
      attempt(options.signal, async (signal) => only(await shutdown(access, [name], options, signal), name)),
    kill: (options = {}) =>
      attempt(options.signal, async (signal) => only(await kill(access, [name], options, signal), name)),
    resume: ({ signal } = {}) => attempt(signal, (own) => resume(access, name, own)),
  };
}

async function resume(access: TeamAccess, name: string, signal: AbortSignal): Promise<ResumedMember> {
  requireProgram(access.host);
  const open = access.openToChange();
  const ctx = await access.fullContext(signal, open, access.settings());
  const member = await resumeMember(ctx, name, { signal });
  if (!signal.aborted || !hasNotStarted(member)) return member;
  throw interrupted(signal, `Interrupted before ${name} had started.`, { member });
}

/** Whether a member should have started and has not. */
export function hasNotStarted({ outcome }: ResumedMember): boolean {
  return outcome === "failed" || outcome === "down";
}

/** Returns the report of the only addressed member. */
function only<T>(reports: readonly T[], name: string): T {
  const [report] = reports;
  if (report === undefined)
    throw new TeamError("AGENT_NOT_FOUND", `${name} is no longer a member of its team.`);
  return report;
}

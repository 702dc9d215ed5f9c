import { currentStatus } from "../operations/current-status.ts";
import { deleteTeam } from "../operations/ending/delete-team.ts";
import { downTeam } from "../operations/resume/down.ts";
import { resumeTeam } from "../operations/resume/resume.ts";
import { saveTeam } from "../runtime/commands/archive-file.ts";
import { defined } from "../schema/defined.ts";
import type { TeamAccess } from "./access.ts";
import { approvalList } from "./approval-list.ts";
import { attempt, interrupted } from "./attempt.ts";
import { requireChoices, requireMilliseconds } from "./checks.ts";
import { followEvents } from "./events.ts";
import { requireProgram } from "./host.ts";
import {
  interrupt,
  kill,
  memberName,
  peek,
  setBudget,
  setMode,
  shutdown,
  spawnMember,
  unlessInterrupted,
} from "./members.ts";
import { readInbox, send, sendToAll } from "./messages.ts";
import type { ResumeOptions, ShutdownOptions } from "./options.ts";
import type { ResumeReport, ShutdownReport } from "./reports.ts";
import { taskList } from "./task-list.ts";
import type { Team } from "./team.ts";
import { hasNotStarted, teammateHandle } from "./teammate-handle.ts";
import { waitForTeam } from "./wait.ts";

/** Returns a team as the library shows it. */
export function teamHandle(access: TeamAccess): Team {
  return {
    get name() {
      return access.ref.team;
    },
    actor: access.actor,
    tasks: taskList(access),
    approvals: approvalList(access),
    teammate: (name) => teammateHandle(access, memberName(access, name)),
    spawn: (name, options = {}) =>
      attempt(options.signal, async (signal) =>
        teammateHandle(access, await spawnMember(access, name, options, signal)),
      ),
    send: (to, text, options) => attempt(undefined, () => send(access, to, text, options)),
    broadcast: (text, options) => attempt(undefined, () => sendToAll(access, text, options)),
    status: () =>
      attempt(undefined, async (signal) => currentStatus(await access.fullContext(signal), { git: false })),
    wait: (options) => waitForTeam(access, options),
    events: (options) => followEvents(access.ref, options),
    inbox: (options) => attempt(undefined, () => readInbox(access, access.actor, options)),
    peek: (name, options) => attempt(undefined, (signal) => peek(access, name, signal, options)),
    interrupt: (name, { signal } = {}) => attempt(signal, (own) => interrupt(access, name, own)),
    setMode: (name, mode) => attempt(undefined, (signal) => setMode(access, name, mode, signal)),
    setBudget: (limits) => attempt(undefined, (signal) => setBudget(access, undefined, limits, signal)),
    shutdown: (names, options = {}) =>
      attempt(options.signal, (signal) => shutdown(access, names, options, signal)),
    kill: (names, options = {}) => attempt(options.signal, (signal) => kill(access, names, options, signal)),
    down: (options = {}) => attempt(options.signal, (signal) => down(access, options, signal)),
    resume: (options = {}) => attempt(options.signal, (signal) => resume(access, options, signal)),
    export: (file, { signal } = {}) =>
      attempt(signal, (own) => {
        const elsewhere = "name another file";
        return saveTeam(access.open().ref, { cwd: access.host.cwd, file, signal: own, elsewhere });
      }),
    delete: ({ force = false, signal } = {}) =>
      attempt(signal, async (own) => {
        const ctx = await access.fullContext(own, access.openToChange());
        return deleteTeam(ctx, { force, problem: access.host.note, signal: own });
      }),
  };
}

async function down(
  access: TeamAccess,
  { timeoutMs, reason }: ShutdownOptions,
  signal: AbortSignal,
): Promise<readonly ShutdownReport[]> {
  requireMilliseconds(timeoutMs);
  const ctx = await access.fullContext(signal, access.openToChange());
  return unlessInterrupted(signal, await downTeam(ctx, { signal, ...defined({ timeoutMs, reason }) }));
}

async function resume(
  access: TeamAccess,
  { teammateMode, force }: ResumeOptions,
  signal: AbortSignal,
): Promise<ResumeReport> {
  requireProgram(access.host);
  requireChoices({ teammateMode });
  const open = access.openToChange();
  const ctx = await access.fullContext(signal, open, access.settings());
  const report = await resumeTeam(ctx, { signal, ...defined({ mode: teammateMode, force }) });
  const notStarted = report.members.filter(hasNotStarted).map(({ name }) => name);
  if (!signal.aborted || notStarted.length === 0) return report;
  throw interrupted(signal, `Interrupted before ${notStarted.join(", ")} had started.`, { report });
}
